import 'reflect-metadata'; // First, because the library of the certificates needs it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send, type Server, type ServerResponse } from 'node:http';
import { request as sendWithTls } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import type { Host } from '@svc/contracts';
import { newLog, type TlsOptions } from '@svc/service';
import { waitUntil } from '@svc/testing';
import type { FastifyInstance } from 'fastify';
import { AppDraining } from './draining.js';
import { newFront } from './front.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

describe('the front (reverse proxy)', () => {
  let upstreamApp: Server;
  let port: number;
  let receivedRequests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  let handleInApp: Handler;
  let draining: AppDraining;
  const fronts: FastifyInstance[] = [];

  beforeEach(async () => {
    receivedRequests = [];
    draining = new AppDraining();
    handleInApp = (_request, response) => response.end('answered');
    upstreamApp = createApp();
    await listen(0);
    port = (upstreamApp.address() as AddressInfo).port;
  });

  afterEach(async () => {
    await Promise.all(fronts.splice(0).map((front) => front.close()));
    await stopApp();
  });

  function createApp(): Server {
    return createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const { method = '', url = '', headers } = request;
        receivedRequests.push({ method, url, headers, body });
        handleInApp(request, response, body);
      });
    });
  }

  async function listen(listenPort: number): Promise<void> {
    upstreamApp.listen(listenPort, '127.0.0.1');
    await once(upstreamApp, 'listening');
  }

  async function stopApp(): Promise<void> {
    upstreamApp.closeAllConnections();
    if (upstreamApp.listening) await new Promise((resolve) => upstreamApp.close(resolve));
  }

  /** Starts a front for the host and returns its URL. The server {@link upstreamApp} replaces every app. */
  async function startFront(host: Host, tls?: TlsOptions): Promise<string> {
    const upstreams = new Map([
      ['hosted-gateway', `http://127.0.0.1:${port}`],
      ['identity', `http://127.0.0.1:${port}`],
    ]);
    const urls = { errorPages: 'https://api.example/errors', gatewayUrl: 'https://pay.example' };
    const front = newFront({ host, upstreams, draining, log: newLog('front', 'silent'), tls, ...urls });
    fronts.push(front);
    return front.listen({ port: 0, host: '127.0.0.1' });
  }

  it('forwards path, query, body and headers unchanged, and adds the client address', async () => {
    const url = await startFront('gateway');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const response = await fetch(`${url}/api/v3.1/sessions?a=1&b=../%2F'"%`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent, 'x-request-id': 'r-1', 'x-forwarded-for': '6.6.6.6' },
      body: '{"amount":  1}',
    });
    expect(await response.text()).toBe('answered');
    expect(receivedRequests).toHaveLength(1);
    expect(receivedRequests[0]).toMatchObject({ method: 'POST', body: '{"amount":  1}' });
    expect(receivedRequests[0]!.url).toMatch(/^\/api\/v3\.1\/sessions\?a=1&b=\.\.\/%2F/);
    expect(receivedRequests[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': 'r-1',
      'x-forwarded-for': '127.0.0.1',
      host: new URL(url).host,
      traceparent,
    });
  });

  it('uses TLS when it is configured, and still adds the client address', async () => {
    const tls = await newCertificate();
    const url = await startFront('gateway', tls);
    const request = sendWithTls(`${url}/api/v3.1/sessions`, { ca: tls.cert, method: 'POST', agent: false });
    request.end('{"amount":  1}');
    const [clientResponse] = (await once(request, 'response')) as [IncomingMessage];
    expect(clientResponse.statusCode).toBe(200);
    clientResponse.resume();
    expect(receivedRequests).toMatchObject([{ method: 'POST', url: '/api/v3.1/sessions', body: '{"amount":  1}' }]);
    expect(receivedRequests[0]!.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
    });

    const plainHttpResponse = fetch(url.replace('https:', 'http:'));
    await expect(plainHttpResponse).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } });
  });

  it('disconnects a client that does not complete the TLS handshake', async () => {
    const { port: tlsPort } = new URL(
      await startFront('gateway', { ...(await newCertificate()), handshakeTimeout: 50 }),
    );
    const socket = connect(Number(tlsPort), '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined).resume();
    await once(socket, 'close');
    expect([socket.destroyed, socket.bytesRead, receivedRequests]).toEqual([true, 0, []]);
  });

  it('streams a response to the client', async () => {
    let finish = (): void => undefined;
    handleInApp = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
      finish = () => response.end('data: two\n\n');
    };
    const reader = (await fetch(`${await startFront('gateway')}/api/stream`)).body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: one\n\n');
    finish();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: two\n\n');
  });

  it.each([{ accept: 'text/event-stream' }, { accept: '*/*' }, {}])(
    'does not let an event stream of a client with the headers %j delay a restart of the app or a shutdown of the front',
    async (headers) => {
      handleInApp = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: one\n\n');
      };
      const request = send(`${await startFront('gateway')}/pay/1/events`, { headers }).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await once(response, 'data');
      response.on('error', () => undefined);
      const ended = new Promise((resolve) => response.once('close', resolve));
      const startedAt = performance.now();
      await draining.drain('hosted-gateway');
      draining.resume('hosted-gateway');
      await Promise.all(fronts.splice(0).map((front) => front.close()));
      await ended;
      // For a request in flight, the draining of the app and the shutdown would each wait up to 10 s.
      expect(performance.now() - startedAt).toBeLessThan(9_000);
      expect([response.destroyed, receivedRequests.length]).toEqual([true, 1]);
    },
  );

  it('holds a POST while the app is down, and sends it once when the app runs again', async () => {
    const url = await startFront('gateway');
    await stopApp();
    const clientResponse = fetch(`${url}/api/v3.1/sessions`, { method: 'POST', body: 'once' });
    // During these round trips, the connection of the first attempt is refused.
    for (let trip = 0; trip < 5; trip++) expect((await fetch(`${url}/no-such-route`)).status).toBe(404);
    upstreamApp = createApp();
    await listen(port);
    expect((await clientResponse).status).toBe(200);
    expect(receivedRequests.map(({ body }) => body)).toEqual(['once']);
  });

  it('responds 503 in the error format of the host when the app stays down', async () => {
    await stopApp();
    const [gateway, admin] = await Promise.all(
      [`${await startFront('gateway')}/api/v3.1/payments`, `${await startFront('admin')}/admin/v1/merchants`].map(
        (url) => fetch(url),
      ),
    );
    expect([gateway!.status, gateway!.headers.get('retry-after')]).toEqual([503, '1']);
    expect(gateway!.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await gateway!.json()).toMatchObject({
      status: 'InternalServer',
      errors: [{ message: expect.any(String) }],
    });
    expect(await admin!.json()).toMatchObject({ status: 503, title: expect.any(String) });
  });

  it('retries a GET once after a lost connection, and never a POST', async () => {
    const url = await startFront('gateway');
    handleInApp = (request, response) =>
      receivedRequests.length === 1 ? request.socket.destroy() : response.end('second time');
    expect(await (await fetch(`${url}/api/v3.1/payments`)).text()).toBe('second time');
    receivedRequests = [];
    handleInApp = (request) => request.socket.destroy();
    const post = await fetch(`${url}/api/v3.1/sessions`, { method: 'POST', body: 'x' });
    expect([post.status, receivedRequests.length]).toEqual([502, 1]);
    receivedRequests = [];
    expect([(await fetch(`${url}/api/v3.1/payments`)).status, receivedRequests.length]).toEqual([502, 2]);
  });

  it('does not retry after a 503 of the app', async () => {
    handleInApp = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end('busy');
    const response = await fetch(`${await startFront('gateway')}/api/v3.1/payments`);
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([503, '1', 'busy']);
    expect(receivedRequests).toHaveLength(1);
  });

  it('rejects a body above 512 KiB, which is too large for every app', async () => {
    const post = await fetch(`${await startFront('gateway')}/api/x`, { method: 'POST', body: 'x'.repeat(600 * 1024) });
    expect([post.status, receivedRequests.length]).toEqual([413, 0]);
  });

  it('holds requests of a draining app', async () => {
    const url = await startFront('gateway');
    await draining.drain('hosted-gateway');
    const clientResponse = fetch(`${url}/api/v3.1/payments`);
    // After this round trip, the app would have received the request if it was not held.
    expect((await fetch(`${url}/no-such-route`)).status).toBe(404);
    expect(receivedRequests).toHaveLength(0);
    draining.resume('hosted-gateway');
    expect((await clientResponse).status).toBe(200);
  });

  it('completes the requests in flight when it closes', async () => {
    const url = await startFront('gateway');
    let finish = (): void => undefined;
    handleInApp = (_request, response) => (finish = () => response.end('late'));
    const clientResponse = fetch(`${url}/api/v3.1/payments`);
    await waitUntil('the request to arrive', 5_000, async () => receivedRequests.length === 1);
    const closed = fronts[0]!.close();
    finish();
    expect(await (await clientResponse).text()).toBe('late');
    await closed;
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('reports at /health/ready whether every app is ready, and why an app is not ready', async () => {
    const url = `${await startFront('admin')}/health/ready`;
    expect((await fetch(url)).status).toBe(200);
    handleInApp = (_request, response) => response.writeHead(503).end('{"detail":"No broker."}');
    expect(await (await fetch(url)).json()).toEqual({
      services: { 'hosted-gateway': 'No broker.', identity: 'No broker.' },
    });
    await stopApp();
    const unavailable = await fetch(url);
    expect(unavailable.status).toBe(503);
    expect(await unavailable.json()).toEqual({
      services: { 'hosted-gateway': 'does not answer', identity: 'does not answer' },
    });
  });

  it.each([
    '//admin/v1/merchants',
    '/pay;/../admin',
    '/pay/../admin/v1/dead-letters/hosted-gateway',
    '/%61dmin/v1/merchants',
    'http://gateway/pay',
    '/PAY',
  ])('responds 404 to the path %s without forwarding it to an app', async (path) => {
    const { port: frontPort } = new URL(await startFront('gateway'));
    const socket = connect(Number(frontPort), '127.0.0.1');
    let clientResponse = '';
    socket.on('data', (chunk) => (clientResponse += String(chunk)));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`);
    await once(socket, 'close');
    expect(clientResponse).toMatch(/^HTTP\/1.1 404 /);
    expect(receivedRequests).toHaveLength(0);
  });

  it('names the host that has the path, in the format of the host of the request', async () => {
    const link = '<https://api.example/errors/resource.not-found>; rel="help"';
    const api = await fetch(`${await startFront('api')}/api/v3.1/sessions`, { method: 'POST' });
    const detail =
      'The main API has no path /api/v3.1/sessions. It is a path of the hosted gateway, https://pay.example.';
    expect([api.status, api.headers.get('content-type'), api.headers.get('link')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
      link,
    ]);
    expect(await api.json()).toEqual({
      type: 'https://api.example/errors/resource.not-found',
      title: 'Nothing was found here.',
      status: 404,
      code: 'resource.not-found',
      detail,
      instance: api.headers.get('x-request-id'),
      errors: [{ errorReference: '40', message: detail }],
    });

    const gateway = await fetch(`${await startFront('gateway')}/v1/payments`);
    expect([gateway.status, gateway.headers.get('content-type'), gateway.headers.get('link')]).toEqual([
      404,
      'application/json; charset=utf-8',
      link,
    ]);
    const message = 'The hosted gateway has no path /v1/payments. It is a path of the main API, https://api.example.';
    expect(await gateway.json()).toEqual({ status: 'NotFound', errors: [{ message }] });
    expect(receivedRequests).toHaveLength(0);
  });

  it('accepts a GET with a body, and a POST without a body', async () => {
    const url = await startFront('gateway');
    const get = send(`${url}/api/v3.1/payments`, { method: 'GET', headers: { 'content-length': '2' } });
    get.end('{}');
    const [clientResponse] = (await once(get, 'response')) as [IncomingMessage];
    clientResponse.resume();
    expect(clientResponse.statusCode).toBe(200);
    expect((await fetch(`${url}/api/v3.1/sessions`, { method: 'POST' })).status).toBe(200);
    expect(receivedRequests.map(({ method, body }) => [method, body])).toEqual([
      ['GET', ''],
      ['POST', ''],
    ]);
  });
});

/** A self-signed certificate for 127.0.0.1 that is valid for an hour. */
async function newCertificate(): Promise<TlsOptions> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await globalThis.crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=front',
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
  });
  const key = PemConverter.encode(await globalThis.crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { cert: certificate.toString('pem'), key, handshakeTimeout: 10_000 };
}
