import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** A fake of the platform's gateway. Like the public API (C7), it returns the same session for the same requestId. */
export interface FakeGateway {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** From now on, every request gets a response with this status and without a session. */
  rejectWith(httpStatus: number): void;
  stop(): Promise<void>;
}

export async function startFakeGateway(): Promise<FakeGateway> {
  const requests: ReceivedRequest[] = [];
  const sessions = new Map<unknown, string>();
  let rejectionStatus: number | undefined;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    requests.push({ method: request.method, path: request.url, headers: request.headers, body });
    response.setHeader('content-type', 'application/json');
    if (rejectionStatus !== undefined) {
      response
        .writeHead(rejectionStatus)
        .end(JSON.stringify({ status: 'BadRequest', errors: [{ message: 'refused' }] }));
      return;
    }
    const sessionId = sessions.get(body['requestId']) ?? randomUUID();
    sessions.set(body['requestId'], sessionId);
    const redirectUrl = `${url}/pay?sessionId=${sessionId}`;
    response.writeHead(201).end(JSON.stringify({ sessionId, redirectUrl, status: 'Success', errors: [] }));
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    rejectWith: (httpStatus) => (rejectionStatus = httpStatus),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
