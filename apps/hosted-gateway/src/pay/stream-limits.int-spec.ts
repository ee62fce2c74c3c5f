/** The limit of open event streams of one IP address. (pending-payments.int-spec.ts tests the limit of one session.) */
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { DomainError } from '@svc/kernel';
import { type Gateway, startGateway } from '../../test/gateway.js';
import { StateStreams } from './state-streams.js';

/** The limit for one address, and for one session. */
const [MAX_OF_ADDRESS, MAX_OF_SESSION] = [500, 10];
const PAYER = { chosen: undefined, accepted: undefined, ownReferences: [] };

let gateway: Gateway;
let streams: StateStreams;
let sessionIds: string[];
let opened: Readable[];
beforeAll(async () => {
  gateway = await startGateway();
  streams = gateway.service.app.get(StateStreams);
  const merchant = await gateway.createMerchant();
  const count = MAX_OF_ADDRESS / MAX_OF_SESSION + 1;
  sessionIds = await Promise.all(Array.from({ length: count }, () => gateway.createSession(merchant)));
});
beforeEach(() => {
  opened = [];
});
afterEach(() => {
  for (const stream of opened) stream.destroy();
});
afterAll(() => gateway.stop());

async function open(clientIp: string, sessionId: string): Promise<Readable> {
  const stream = await streams.open({ sessionId }, PAYER, clientIp);
  opened.push(stream);
  return stream;
}
/** Opens as many streams as one address may open. One session without streams remains: the last one. */
async function openAll(buildIp: (index: number) => string): Promise<void> {
  for (let index = 0; index < MAX_OF_ADDRESS; index++)
    await open(buildIp(index), sessionIds[Math.floor(index / MAX_OF_SESSION)]!);
}

test('an address with 500 streams gets a 429 for another one, polls, and can open a stream when one has closed', async () => {
  await gateway.service.app.listen(0, '127.0.0.1');
  const { port } = gateway.service.app.getHttpServer().address() as AddressInfo;
  const sessionId = sessionIds.at(-1)!;
  const call = (name: string) => fetch(`http://127.0.0.1:${port}/pay/${sessionId}/${name}`);
  await openAll(() => '127.0.0.1');
  const rejected = await call('events');
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '5']);
  expect(await (await call('state')).json()).toMatchObject({ state: 'open' });
  await open('127.0.0.2', sessionId);

  const closed = new Promise((resolve) => opened[0]!.once('close', resolve));
  opened[0]!.destroy();
  await closed;
  const accepted = await call('events');
  expect(accepted.status).toBe(200);
  await accepted.body!.cancel();
});

test('addresses of the same IPv6 network of 64 bits count as one address', async () => {
  await openAll((index) => `2001:db8:0:1::${(index % 9) + 1}`);
  await expect(open('2001:db8:0:1:ffff::', sessionIds.at(-1)!)).rejects.toEqual(
    expect.objectContaining<Partial<DomainError>>({ code: 'request.rate-limited' }),
  );
  await open('2001:db8:0:2::1', sessionIds.at(-1)!);
});
