import { fastify } from 'fastify';
import { newLog } from '../logging.js';
import { httpSettings } from './http.js';

test.each([
  ['production', expect.stringMatching(/^max-age=\d{8}/)],
  // Under the name of a machine it would hold for whatever else its owner runs there.
  ['development', undefined],
] as const)('in %s the response has the Strict-Transport-Security header: %s', async (environment, expected) => {
  const log = newLog('test', 'silent');
  const app = fastify(httpSettings.options({}, log));
  httpSettings.configure(app, log, environment);
  app.get('/', () => Promise.resolve({}));
  const { headers } = await app.inject({ method: 'GET', url: '/' });
  await app.close();
  expect(headers['strict-transport-security']).toEqual(expected);
});
