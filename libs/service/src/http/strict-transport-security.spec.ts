import { fastify } from 'fastify';
import { newLog } from '../logging.js';
import { httpSettings } from './http.js';

test.each([
  ['production', expect.stringMatching(/^max-age=\d{8}/)],
  // In development there is no header, because the browser would apply it to all other programs on the machine.
  ['development', undefined],
] as const)('the Strict-Transport-Security header in %s is %s', async (environment, expected) => {
  const log = newLog('test', 'silent');
  const app = fastify(httpSettings.options({}, log));
  httpSettings.configure(app, log, environment);
  app.get('/', () => Promise.resolve({}));
  const { headers } = await app.inject({ method: 'GET', url: '/' });
  await app.close();
  expect(headers['strict-transport-security']).toEqual(expected);
});
