import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './config.js';
import { createListeners, TlsListenerConfig } from './tls-listener.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
const files = {
  SVC_TLS_CERTIFICATE_FILE: join(folder, 'certificate.pem'),
  SVC_TLS_KEY_FILE: join(folder, 'key.pem'),
};
beforeAll(() => {
  writeFileSync(files.SVC_TLS_CERTIFICATE_FILE, 'the certificate');
  writeFileSync(files.SVC_TLS_KEY_FILE, 'the key');
});
afterAll(() => rmSync(folder, { recursive: true }));

const PORTS = { api: 1, gateway: 2, shop: 3, admin: 4, console: 5 };
const newListeners = (variables: Record<string, string>) =>
  createListeners(PORTS, { ...loadConfig(TlsListenerConfig, variables), SVC_LISTEN_ADDRESS: '127.0.0.1' });

test('without SVC_TLS_LISTEN_ADDRESS, no listener uses TLS', () => {
  expect(newListeners({}).map(({ host, address, tls }) => [host, address, tls])).toEqual(
    ['api', 'gateway', 'shop', 'admin', 'console'].map((host) => [host, '127.0.0.1', undefined]),
  );
});

test('with SVC_TLS_LISTEN_ADDRESS, every host except "admin" also has a listener with TLS on that address', () => {
  const listeners = newListeners({ SVC_TLS_LISTEN_ADDRESS: '192.168.1.5', ...files });
  expect(listeners.filter(({ tls }) => tls === undefined)).toHaveLength(5);
  expect(listeners.filter(({ address }) => address === '192.168.1.5')).toEqual(
    (['api', 'gateway', 'shop', 'console'] as const).map((host) => ({
      host,
      port: PORTS[host],
      address: '192.168.1.5',
      tls: { cert: 'the certificate', key: 'the key', handshakeTimeout: 10_000 },
    })),
  );
});

test.each(Object.keys(files))('SVC_TLS_LISTEN_ADDRESS without %s is rejected', (name) => {
  const variables: Record<string, string> = { SVC_TLS_LISTEN_ADDRESS: '192.168.1.5', ...files, [name]: '' };
  expect(() => newListeners(variables)).toThrow(new RegExp(name));
});

test('the error for a missing file contains the name of the file', () => {
  const variables = { SVC_TLS_LISTEN_ADDRESS: '192.168.1.5', ...files, SVC_TLS_KEY_FILE: '/nowhere/key.pem' };
  expect(() => newListeners(variables)).toThrow('/nowhere/key.pem, configured for TLS, cannot be read.');
});
