import { loadConfig } from './config.js';
import { ConfigError } from './config-error.js';
import { IsAdminKey, IsBaseUrl } from './setting-rules.js';

class Settings {
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  @IsBaseUrl()
  SVC_GATEWAY_URL: string;
}

const validSettings = { SVC_ADMIN_KEY: 'k'.repeat(32), SVC_GATEWAY_URL: 'https://pay.svc.example' };

test.each([
  'https://pay.svc.example',
  'http://127.0.0.1:7301',
  'http://gateway/below',
  `https://x.example/${'x'.repeat(182)}`,
])('%s is accepted as a base URL', (url) =>
  expect(loadConfig(Settings, { ...validSettings, SVC_GATEWAY_URL: url }).SVC_GATEWAY_URL).toBe(url),
);

test.each([
  ['SVC_GATEWAY_URL', 'https://pay.svc.example/'],
  ['SVC_GATEWAY_URL', 'pay svc'],
  ['SVC_GATEWAY_URL', 'ftp://pay.svc.example'],
  ['SVC_GATEWAY_URL', `https://x.example/${'x'.repeat(183)}`],
  ['SVC_ADMIN_KEY', 'k'.repeat(31)],
  ['SVC_ADMIN_KEY', 'k'.repeat(513)],
])('%s=%s is rejected, and the error contains the name of the variable', (name, text) => {
  const load = () => loadConfig(Settings, { ...validSettings, [name]: text });
  expect(load).toThrow(ConfigError);
  expect(load).toThrow(new RegExp(name));
});
