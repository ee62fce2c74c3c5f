import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type Server } from 'node:tls';
import { type CertificateFiles, dnsNames, ensureCertificate } from './certificate.ts';

const ADDRESS = '192.168.1.5';
const LOOPBACK = '127.0.0.1';
const NOW = new Date();
const DAY_MS = 24 * 60 * 60 * 1000;
const inDays = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);

let folder: string;
let files: CertificateFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-certificate-'));
  files = { certificate: join(folder, 'tls', 'certificate.pem'), key: join(folder, 'tls', 'key.pem') };
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a TLS server with the certificate', () => {
  let server: Server;
  beforeEach(async () => {
    await ensureCertificate(files, LOOPBACK, NOW);
    server = createServer({ cert: readFileSync(files.certificate), key: readFileSync(files.key) }, (socket) =>
      socket.end('hello'),
    );
    server.on('tlsClientError', () => undefined); // Clients that reject the certificate close the connection.
    server.listen(0, LOOPBACK);
    await once(server, 'listening');
  });
  afterEach(() => server.close());

  /** Returns the text that a client which trusts `ca` receives, or the error code of its TLS handshake. */
  async function connectClient(options: { servername?: string }, ca?: Buffer): Promise<string> {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ host: LOOPBACK, port, ...(ca ? { ca } : {}), ...options });
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    const failure = new Promise<string>((resolve) =>
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)),
    );
    const ended = new Promise<string>((resolve) => socket.once('end', () => resolve(text)));
    return Promise.race([failure, ended]).finally(() => socket.destroy());
  }

  it('is trusted by clients that trust the certificate, for the address and each DNS name', async () => {
    const ca = readFileSync(files.certificate);
    expect(await connectClient({}, ca)).toBe('hello');
    for (const servername of dnsNames(hostname())) expect(await connectClient({ servername }, ca)).toBe('hello');
  });

  it('is rejected by clients that do not trust the certificate, and for another DNS name', async () => {
    const ca = readFileSync(files.certificate);
    expect(await connectClient({})).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(await connectClient({ servername: 'shop.example' }, ca)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    await ensureCertificate(files, ADDRESS, NOW);
    expect(await connectClient({}, readFileSync(files.certificate))).not.toBe('hello');
  });
});

describe('the certificate', () => {
  it('meets the requirements of phones: no authority, only for servers, for the address, at most 398 days', async () => {
    const { fingerprint, validUntil } = await ensureCertificate(files, ADDRESS, NOW);
    const certificate = new X509Certificate(readFileSync(files.certificate));
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']); // serverAuth
    expect(certificate.checkIP(ADDRESS)).toBe(ADDRESS);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkIP('192.168.1.6')).toBeUndefined();
    expect(certificate.fingerprint256).toBe(fingerprint);
    expect(validUntil.getTime() - new Date(certificate.validFrom).getTime()).toBeLessThanOrEqual(398 * DAY_MS);
    expect(new Date(certificate.validFrom).getTime()).toBeLessThan(NOW.getTime());
  });

  it('has a key file that only its owner can read, also after a change of the file mode', async () => {
    await ensureCertificate(files, ADDRESS, NOW);
    expect(statSync(files.key).mode & 0o777).toBe(0o600);
    chmodSync(files.key, 0o644);
    await ensureCertificate(files, ADDRESS, NOW);
    expect(statSync(files.key).mode & 0o777).toBe(0o600);
  });

  it('does not change at the next start', async () => {
    const first = await ensureCertificate(files, ADDRESS, NOW);
    expect(first.renewalReason).toBe('there was none');
    expect(await ensureCertificate(files, ADDRESS, inDays(366))).toEqual({ ...first, renewalReason: undefined });
  });

  it.each([
    ['it is about to expire', 'it was about to expire', () => ({ now: inDays(367) })],
    ['it has expired', 'it was about to expire', () => ({ now: inDays(500) })],
    ['the clock was wrong when it was created', 'it was not valid yet', () => ({ now: inDays(-2) })],
    ['the address has changed', 'the address has changed', () => ({ address: '192.168.1.6' })],
    ['the key is lost', 'its key was lost', () => void rmSync(files.key)],
    [
      'the file is incomplete',
      'there was none',
      () => writeFileSync(files.certificate, '-----BEGIN CERTIFICATE-----\nMII'),
    ],
  ])('is renewed when %s', async (_, reason, change) => {
    const { fingerprint } = await ensureCertificate(files, ADDRESS, NOW);
    const { now = NOW, address = ADDRESS } = (change() ?? {}) as { now?: Date; address?: string };
    const next = await ensureCertificate(files, address, now);
    expect(next.renewalReason).toBe(reason);
    expect(next.fingerprint).not.toBe(fingerprint);
    expect((await ensureCertificate(files, address, now)).renewalReason).toBeUndefined();
  });

  it('is renewed when the key belongs to another certificate', async () => {
    await ensureCertificate(files, ADDRESS, NOW);
    const oldKey = readFileSync(files.key);
    rmSync(files.certificate);
    await ensureCertificate(files, ADDRESS, NOW);
    writeFileSync(files.key, oldKey);
    expect((await ensureCertificate(files, ADDRESS, NOW)).renewalReason).toBe('its key was lost');
  });
});

test.each([
  ['laptop', ['localhost', 'laptop']],
  ['Thandis-MacBook.local', ['localhost', 'thandis-macbook.local']],
  ['localhost', ['localhost']],
  ['my_laptop', ['localhost']],
  ['-laptop', ['localhost']],
  ['', ['localhost']],
])('a machine with the host name %j has the DNS names %j', (host, names) => {
  expect(dnsNames(host)).toEqual(names);
});
