import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Faults of the connection between the platform and the bank. The bank's own records stay correct. */
export const FAULTS = [
  'response dropped',
  'response after the time limit',
  'request doubled',
  '5xx after charging',
  '5xx before charging',
  'very slow: arrives after 5 s',
  'very slow: arrives after 20 s',
  'no response for 15 minutes',
  'approves after it confirmed the reversal',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface UnreliableAcquirer {
  readonly url: string;
  /** Lets the held requests with this fault continue. */
  release(fault: Fault): void;
  close(): Promise<void>;
}

interface BankResponse {
  readonly status: number;
  readonly body: string;
}

/** The state of the charge with one idempotency key, for its fault. */
interface ChargeState {
  readonly fault: Fault | undefined;
  queryCount: number;
  reversalCount: number;
}

const SERVER_ERROR: BankResponse = { status: 503, body: '{}' };
/** The proxy closes the connection without a response. */
const NO_RESPONSE = undefined;

/**
 * Starts a proxy in front of the simulated bank. The proxy fails as networks and banks do. The amount of a charge
 * determines its fault, which also applies to queries and reversals with the key of the charge.
 */
export async function startUnreliableAcquirer(
  bankUrl: string,
  faultOf: (amount: number) => Fault | undefined,
): Promise<UnreliableAcquirer> {
  const chargeStates = new Map<string, ChargeState>();
  const heldRequests = new Map<Fault, (() => void)[]>();
  const waitForRelease = (fault: Fault): Promise<void> =>
    new Promise((resolve) => heldRequests.set(fault, [...(heldRequests.get(fault) ?? []), resolve]));
  const forwardToBank = async (path: string, body?: string): Promise<BankResponse> => {
    const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const response = await fetch(bankUrl + path, path.endsWith('/reversal') ? { method: 'POST' } : init);
    return { status: response.status, body: await response.text() };
  };

  const sendCharge = async (body: string): Promise<BankResponse | undefined> => {
    const { key, amount } = JSON.parse(body) as { key: string; amount: number };
    const fault = faultOf(amount);
    chargeStates.set(key, { fault, queryCount: 0, reversalCount: 0 });
    const forwardCharge = (): Promise<BankResponse> => forwardToBank('/charges', body);
    switch (fault) {
      case undefined:
        return forwardCharge();
      case 'response dropped':
      case 'no response for 15 minutes':
        await forwardCharge();
        return NO_RESPONSE;
      case 'response after the time limit':
        await forwardCharge();
        await waitForRelease(fault);
        return NO_RESPONSE;
      case 'request doubled':
        return (await Promise.all([forwardCharge(), forwardCharge()]))[0];
      case '5xx after charging':
        await forwardCharge();
        return SERVER_ERROR;
      case '5xx before charging':
        return SERVER_ERROR;
      case 'very slow: arrives after 5 s':
      case 'very slow: arrives after 20 s':
      case 'approves after it confirmed the reversal':
        await waitForRelease(fault);
        return forwardCharge();
    }
  };
  const queryCharge = async (path: string): Promise<BankResponse | undefined> => {
    const charge = chargeStates.get(path.split('/')[2]!);
    if (charge?.fault === 'no response for 15 minutes') return NO_RESPONSE;
    if (charge?.fault?.startsWith('5xx') && ++charge.queryCount <= 2) return SERVER_ERROR;
    return forwardToBank(path);
  };
  const reverseCharge = async (path: string): Promise<BankResponse | undefined> => {
    const charge = chargeStates.get(path.split('/')[2]!);
    if (charge?.fault === 'no response for 15 minutes' && ++charge.reversalCount === 1) return NO_RESPONSE;
    // The bank confirms the reversal, and charges the card nevertheless.
    if (charge?.fault === 'approves after it confirmed the reversal' && ++charge.reversalCount === 1)
      return { status: 200, body: JSON.stringify({ outcome: 'reversed', charged: false, acquirerReference: 'none' }) };
    return forwardToBank(path);
  };

  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const handled = readBody(request).then((body) => {
      if (request.method === 'GET') return queryCharge(path);
      return path.endsWith('/reversal') ? reverseCharge(path) : sendCharge(body);
    });
    void handled.catch(() => NO_RESPONSE).then((bankResponse) => sendResponse(response, bankResponse));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const release = (fault: Fault): void => {
    for (const resume of heldRequests.get(fault) ?? []) resume();
    heldRequests.delete(fault);
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

function sendResponse(response: ServerResponse, bankResponse: BankResponse | undefined): void {
  if (!bankResponse) return void response.destroy();
  response.writeHead(bankResponse.status, { 'content-type': 'application/json' });
  response.end(bankResponse.body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
