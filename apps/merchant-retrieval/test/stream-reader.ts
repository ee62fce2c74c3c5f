import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PaymentNotification } from '@svc/contracts';
import type { RunningService } from '@svc/service';

export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: PaymentNotification;
}

/** A client of a stream of server-sent events. */
export interface StreamReader {
  readonly response: IncomingMessage;
  readonly events: StreamEvent[];
  /** The id of the last event. Before the first event, it is the id at the beginning of the stream. */
  readonly lastEventId: string | undefined;
  /** Number of received heartbeats, which are comments. */
  readonly heartbeats: number;
  /** The received text. For a rejected request, it is the body of the error. */
  readonly text: string;
  readonly closed: Promise<void>;
  /** Closes the connection immediately, even within an event. */
  readonly disconnect: () => void;
}

/** Makes the service listen on a free port. Returns the URL before the merchant id. */
export async function listenOnFreePort(service: RunningService): Promise<string> {
  await service.app.listen(0, '127.0.0.1');
  const { port } = service.app.getHttpServer().address() as AddressInfo;
  return `http://127.0.0.1:${port}/business/api/v1/merchants`;
}

/** Requests a stream. Resolves when the response headers have arrived. `onEvent` may call `disconnect`. */
export function readStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  onEvent: (event: StreamEvent, reader: StreamReader) => void = () => undefined,
): Promise<StreamReader> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, headers }).on('error', reject);
    request.once('response', (response) => {
      let incompleteBlock = '';
      const reader = {
        response,
        events: [] as StreamEvent[],
        lastEventId: undefined as string | undefined,
        heartbeats: 0,
        text: '',
        closed: new Promise<void>((closed) => response.once('close', closed)),
        disconnect: () => void request.destroy(),
      };
      response.on('error', () => undefined);
      response.setEncoding('utf8').on('data', (chunk: string) => {
        reader.text += chunk;
        const blocks = (incompleteBlock + chunk).split('\n\n');
        incompleteBlock = blocks.pop()!;
        for (const block of blocks) {
          // A client that has disconnected ignores later data of its socket.
          if (request.destroyed) return;
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
          const [id, event, data] = [field('id'), field('event'), field('data')];
          if (block.startsWith(':')) reader.heartbeats++;
          reader.lastEventId = id ?? reader.lastEventId;
          if (data === undefined) continue;
          const received = { id: id!, event: event!, data: JSON.parse(data) as PaymentNotification };
          reader.events.push(received);
          onEvent(received, reader);
        }
      });
      resolve(reader);
    });
  });
}
