import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './config.js';
import { listenersOf, TlsListenerConfig } from './tls-listener.js';

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

const PORTS = { api: 1, gateway: 2, shop: 3, admin: 4 };
const listenersWith = (variables: Record<string, string>) =>
  listenersOf(PORTS, { ...loadConfig(TlsListenerConfig, variables), SVC_LISTEN_ADDRESS: '127.0.0.1' });

test('without a TLS address, no host listens with TLS', () => {
  expect(listenersWith({}).map(({ host, address, tls }) => [host, address, tls])).toEqual(
    ['api', 'gateway', 'shop', 'admin'].map((host) => [host, '127.0.0.1', undefined]),
  );
});

test('with a TLS address, every host except administration also listens there', () => {
  const listeners = listenersWith({ SVC_TLS_LISTEN_ADDRESS: '192.168.1.5', ...files });
  expect(listeners.filter(({ tls }) => tls === undefined)).toHaveLength(4);
  expect(listeners.filter(({ address }) => address === '192.168.1.5')).toEqual(
    (['api', 'gateway', 'shop'] as const).map((host) => ({
      host,
      port: PORTS[host],
      address: '192.168.1.5',
      tls: { cert: 'the certificate', key: 'the key', handshakeTimeout: 10_000 },
    })),
  );
});

test.each(Object.keys(files))('a TLS address without %s is refused', (name) => {
  const variables: Record<string, string> = { SVC_TLS_LISTEN_ADDRESS: '192.168.1.5', ...files, [name]: '' };
  expect(() => listenersWith(variables)).toThrow(new RegExp(name));
});

test('the error names a file that does not exist', () => {
  const variables = { SVC_TLS_LISTEN_ADDRESS: '192.168.1.5', ...files, SVC_TLS_KEY_FILE: '/nowhere/key.pem' };
  expect(() => listenersWith(variables)).toThrow('/nowhere/key.pem, configured for TLS, cannot be read.');
});
