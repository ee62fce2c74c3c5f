import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createAdministrationApi } from './administration-api.ts';

interface StubbedResponse {
  readonly status: number;
  readonly body?: unknown;
}

describe('calls to the administration API', () => {
  let server: Server;
  let calls: string[];
  let respond: (call: string, callNumber: number) => StubbedResponse;

  beforeEach(async () => {
    calls = [];
    server = createServer((request, response) => {
      void readBody(request).then((body) => {
        const call = `${request.method} ${request.url} ${body}`.trim();
        calls.push(call);
        const isAllowed = request.headers['x-admin-key'] === 'the-key';
        const { status, body: content } = isAllowed
          ? respond(call, calls.length)
          : { status: 401, body: { title: 'wrong key' } };
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(content === undefined ? undefined : JSON.stringify(content));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const api = (key = 'the-key') => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    return createAdministrationApi(`http://127.0.0.1:${address.port}`, key);
  };

  it('read every page of the merchants', async () => {
    respond = (call) =>
      call.includes('after=0')
        ? { status: 200, body: { merchants: [{ merchantId: 1 }, { merchantId: 2 }], nextAfter: 2 } }
        : { status: 200, body: { merchants: [{ merchantId: 3 }] } };
    expect((await api().listMerchants()).map(({ merchantId }) => merchantId)).toEqual([1, 2, 3]);
    expect(calls).toEqual(['GET /admin/v1/merchants?after=0', 'GET /admin/v1/merchants?after=2']);
  });

  it('are retried while a service is not ready', async () => {
    respond = (_call, callNumber) =>
      callNumber < 3 ? { status: 503, body: {} } : { status: 201, body: { merchantId: 4, name: 'Karoo' } };
    expect(await api().createMerchant('Karoo')).toEqual({ merchantId: 4, name: 'Karoo' });
    expect(calls).toHaveLength(3);
  });

  it('revoke only the valid test credentials, before they create a new one', async () => {
    const listedSecrets = [
      { secretId: 'old', mode: 'test', revoked: false },
      { secretId: 'older', mode: 'test', revoked: true },
      { secretId: 'live', mode: 'live', revoked: false },
    ];
    respond = (call) => {
      if (call.startsWith('GET')) return { status: 200, body: { secrets: listedSecrets } };
      return call.startsWith('DELETE') ? { status: 204 } : { status: 201, body: { webhookSecret: 'whsec_new' } };
    };
    expect(await api().replaceWebhookSecret(1, 2)).toEqual({ webhookSecret: 'whsec_new' });
    expect(calls).toEqual([
      'GET /admin/v1/merchants/1/sites/2/webhook-secrets',
      'DELETE /admin/v1/merchants/1/sites/2/webhook-secrets/old',
      'POST /admin/v1/merchants/1/sites/2/webhook-secrets {"mode":"test"}',
    ]);
  });

  it('report that the key is wrong', async () => {
    respond = () => ({ status: 500 });
    await expect(api('another-key').listMerchants()).rejects.toThrow('the administration key is refused');
  });
});

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
