import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Faults between the platform and the bank. The records of the bank itself stay correct. */
export const FAULTS = [
  'answer dropped',
  'answer after the time limit',
  'request doubled',
  '5xx after charging',
  '5xx before charging',
  'very slow: arrives after 5 s',
  'very slow: arrives after 20 s',
  'silent for 15 minutes',
  'approves what it said it never would',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface UnreliableAcquirer {
  readonly url: string;
  /** Forwards the held requests to the bank. */
  release(fault: Fault): void;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Key {
  readonly fault: Fault | undefined;
  asks: number;
  reversals: number;
}

const BROKEN: Answer = { status: 503, body: '{}' };
/** The connection ends without a response. */
const NONE = undefined;

/**
 * A proxy in front of the simulated bank that fails as networks and banks do. The amount of a charge determines its fault, which
 * also applies to polls and reversals of its key.
 */
export async function startUnreliableAcquirer(
  bankUrl: string,
  faultOf: (amount: number) => Fault | undefined,
): Promise<UnreliableAcquirer> {
  const keys = new Map<string, Key>();
  const held = new Map<Fault, (() => void)[]>();
  const hold = (fault: Fault): Promise<void> =>
    new Promise((resolve) => held.set(fault, [...(held.get(fault) ?? []), resolve]));
  const toBank = async (path: string, body?: string): Promise<Answer> => {
    const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const answer = await fetch(bankUrl + path, path.endsWith('/reversal') ? { method: 'POST' } : init);
    return { status: answer.status, body: await answer.text() };
  };

  const charge = async (body: string): Promise<Answer | undefined> => {
    const { key, amount } = JSON.parse(body) as { key: string; amount: number };
    const fault = faultOf(amount);
    keys.set(key, { fault, asks: 0, reversals: 0 });
    const pass = (): Promise<Answer> => toBank('/charges', body);
    switch (fault) {
      case undefined:
        return pass();
      case 'answer dropped':
      case 'silent for 15 minutes':
        await pass();
        return NONE;
      case 'answer after the time limit':
        await pass();
        await hold(fault);
        return NONE;
      case 'request doubled':
        return (await Promise.all([pass(), pass()]))[0];
      case '5xx after charging':
        await pass();
        return BROKEN;
      case '5xx before charging':
        return BROKEN;
      case 'very slow: arrives after 5 s':
      case 'very slow: arrives after 20 s':
      case 'approves what it said it never would':
        await hold(fault);
        return pass();
    }
  };
  const look = async (path: string): Promise<Answer | undefined> => {
    const key = keys.get(path.split('/')[2]!);
    if (key?.fault === 'silent for 15 minutes') return NONE;
    if (key?.fault?.startsWith('5xx') && ++key.asks <= 2) return BROKEN;
    return toBank(path);
  };
  const reverse = async (path: string): Promise<Answer | undefined> => {
    const key = keys.get(path.split('/')[2]!);
    if (key?.fault === 'silent for 15 minutes' && ++key.reversals === 1) return NONE;
    // The bank confirms the reversal, and charges nevertheless.
    if (key?.fault === 'approves what it said it never would' && ++key.reversals === 1)
      return { status: 200, body: JSON.stringify({ outcome: 'reversed', charged: false, acquirerReference: 'none' }) };
    return toBank(path);
  };

  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const answered = read(request).then((body) => {
      if (request.method === 'GET') return look(path);
      return path.endsWith('/reversal') ? reverse(path) : charge(body);
    });
    void answered.catch(() => NONE).then((answer) => send(response, answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const release = (fault: Fault): void => {
    for (const go of held.get(fault) ?? []) go();
    held.delete(fault);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release,
    close: async () => {
      for (const fault of FAULTS) release(fault);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, answer: Answer | undefined): void {
  if (!answer) return void response.destroy();
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(answer.body);
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
