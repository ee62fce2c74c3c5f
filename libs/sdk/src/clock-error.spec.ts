import 'reflect-metadata'; // Imported first, because the certificate library needs it when it loads.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { PemConverter, X509CertificateGenerator } from '@peculiar/x509';
import { describeClockError, explainCertificateError } from './clock-error.js';
import { HttpExchange } from './http-exchange.js';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const describeAs = (difference: string) =>
  `The clock of this machine is ${difference} the server's (header Date): set it to the right time`;

describe('describeClockError', () => {
  it.each([0, MINUTE - 1, -MINUTE + 1])('a difference of %d ms is no error', (errorMs) =>
    expect(describeClockError(errorMs)).toBeUndefined(),
  );

  it.each([
    [MINUTE, '1 minute ahead of'],
    [-MINUTE, '1 minute behind'],
    [-(2 * MINUTE + 3 * SECOND), '2 minutes 3 seconds behind'],
    [MINUTE + SECOND, '1 minute 1 second ahead of'],
    [HOUR + SECOND, '1 hour ahead of'],
    [3 * DAY + 5 * MINUTE, '3 days ahead of'],
    [-(2 * HOUR + 5 * MINUTE + 7 * SECOND), '2 hours 5 minutes behind'],
    [3 * DAY + HOUR, '3 days 1 hour ahead of'],
    [2 * HOUR - 1, '2 hours ahead of'],
  ])('a difference of %d ms is described as "%s"', (errorMs, text) =>
    expect(describeClockError(errorMs)).toBe(describeAs(text)),
  );

  it('uses the newest response of the API by default', async () => {
    const respond = (date: string, type = 'application/json') =>
      new HttpExchange({
        fetch: () => Promise.resolve(new Response('{}', { headers: { date, 'content-type': type } })),
      }).sendOnce({ method: 'GET', url: 'https://api.example/', headers: {} });
    const now = Date.parse('2026-11-20T18:00:00Z');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
    await respond(new Date(now + 2 * HOUR).toUTCString());
    expect(describeClockError()).toBe(describeAs('2 hours behind'));
    // The page of a proxy, whose clock may be wrong.
    await respond(new Date(now + DAY).toUTCString(), 'text/html');
    expect(describeClockError()).toBe(describeAs('2 hours behind'));
    await respond(new Date(now).toUTCString());
    expect(describeClockError()).toBeUndefined();
    clock.mockRestore();
  });
});

describe('explainCertificateError', () => {
  let server: Server;
  let url: string;
  let handle: RequestListener;
  const requests: unknown[] = [];
  beforeAll(async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
    const keys = await globalThis.crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await X509CertificateGenerator.createSelfSigned({
      ...{ name: 'CN=localhost', notBefore: new Date('2020-01-01'), notAfter: new Date('2020-01-02') },
      ...{ signingAlgorithm: algorithm, keys },
    });
    const key = await globalThis.crypto.subtle.exportKey('pkcs8', keys.privateKey);
    const tls = { key: PemConverter.encode(key, 'PRIVATE KEY'), cert: certificate.toString('pem') };
    server = createServer(tls, (request, response) => {
      const { method, headers, url: path } = request;
      requests.push([method, path, Object.keys(headers).toSorted()]);
      handle(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1/secret?key=1`;
  });
  beforeEach(() => void requests.splice(0));
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const respondWith = (date: string | undefined): void => {
    handle = (_, response) => {
      response.sendDate = false;
      if (date !== undefined) response.setHeader('date', date);
      response.end();
    };
  };
  const expired = new TypeError('fetch failed', {
    cause: Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
  });
  const notYetValid = Object.assign(new Error('certificate is not yet valid'), { code: 'CERT_NOT_YET_VALID' });

  it.each([expired, notYetValid])('says how wrong the clock is, by the time of the server: %p', async (cause) => {
    respondWith(new Date(Date.now() - 3 * DAY - HOUR - 30 * SECOND).toUTCString());
    expect(await explainCertificateError(url, cause)).toBe(describeAs('3 days 1 hour ahead of'));
    // The request contains neither the path nor a credential.
    expect(requests).toEqual([['HEAD', '/', ['connection', 'host']]]);
  });

  it('says that the server needs a new certificate if the clock is right', async () => {
    respondWith(new Date().toUTCString());
    expect(await explainCertificateError(url, expired)).toBe(
      'The clock of this machine is right, so the server needs a new certificate',
    );
  });

  it.each([
    ['does not say its time', () => respondWith(undefined)],
    ['says no time', () => respondWith('nonsense')],
    ['breaks the connection', () => void (handle = (request) => request.socket.destroy())],
  ])('asks about the clock if the server %s', async (_, prepare) => {
    prepare();
    expect(await explainCertificateError(url, expired)).toBe('Is the clock of this machine right?');
  });

  it('explains no other error, and asks no server that has no certificate', async () => {
    respondWith(new Date(0).toUTCString());
    for (const cause of [new Error('x'), Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'text', undefined])
      expect(await explainCertificateError(url, cause)).toBeUndefined();
    expect(await explainCertificateError(url.replace('https:', 'http:'), expired)).toBeUndefined();
    expect(requests).toEqual([]);
  });

  it('is the end of the message of a call', async () => {
    respondWith(new Date(Date.now() + 2 * HOUR + 5 * MINUTE + 30 * SECOND).toUTCString());
    const exchange = new HttpExchange({ fetch: () => Promise.reject(notYetValid), wait: async () => undefined });
    const request = { method: 'GET', url, headers: {} } as const;
    const { origin } = new URL(url);
    const message = `No response: ${origin}: certificate is not yet valid. ${describeAs('2 hours 5 minutes behind')}`;
    for (const call of [
      () => exchange.sendOnce(request),
      () => exchange.sendWithRetries(request),
      () => exchange.openStream(request, new AbortController().signal),
    ])
      await expect(call()).rejects.toMatchObject({ message, retryable: true });
    // A call with retries reads the time of the server only for its final error.
    expect(requests).toHaveLength(3);
  });
});
