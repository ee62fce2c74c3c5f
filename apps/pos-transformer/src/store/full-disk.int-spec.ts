/** The store's disk is full: the real program with its database on a file system that the test fills. */
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { SmallDisk } from '../../test/small-disk.js';
import { LINE, PRODUCT, SITE } from '../../test/test-transformer.js';
import { TransformerProcess } from '../../test/transformer-process.js';

let disk: SmallDisk;
let pos: TransformerProcess;
beforeEach(async () => {
  disk = new SmallDisk(3);
  pos = await TransformerProcess.start({ database: join(disk.folder, 'transformer.sqlite') });
});
afterEach(async () => {
  await pos?.stop();
  disk?.remove();
});

const FULL = 'the disk of the store’s computer is full';
const sendLine = (id: number) => pos.call('POST', `/v1/sites/${SITE}/invoice/line`, { ...LINE, id });
const readiness = () => pos.call('GET', '/health/ready');
const waitForReadiness = (expected: number): Promise<unknown> =>
  waitUntil(`the readiness ${expected}`, 20_000, async () => (await readiness()).status === expected);

/** Fills the disk, and sends lines until one cannot be stored. Returns the ids of the lines that were answered OK. */
async function sendLinesUntilFull(firstId: number): Promise<number[]> {
  disk.fill();
  const ids: number[] = [];
  for (let id = firstId; ids.length < 400; id++) {
    const { status, body } = await sendLine(id);
    if (status !== 200) {
      expect([status, body.code, body.detail]).toEqual([503, 'service.not-ready', expect.stringContaining(FULL)]);
      return ids;
    }
    expect(body.Result).toBe('OK');
    ids.push(id);
  }
  throw new Error('The disk is not full.');
}

const lineCount = async (): Promise<number> => (await pos.call('GET', `/till/${SITE}/state`)).body.basket.lines.length;

it('a full disk is named in the log, in each refusal and in the readiness, and it ends when there is space', async () => {
  expect((await pos.sendTotal(1_000, '17')).body.Result).toBe('OK');
  pos.platform.pay(pos.platform.openInvoices()[0]!);
  const waitForPayment = (reference: string): Promise<unknown> =>
    waitUntil(
      `the payment of ${reference}`,
      40_000,
      async () => (await pos.call('GET', `/v1/invoice/${reference}/payment`)).status === 200,
    );
  await waitForPayment('17');
  await pos.resetBasket();
  expect((await sendLine(1)).body.Result).toBe('OK');
  expect((await pos.sendTotal(8_950, '18')).body.Result).toBe('OK');
  const ids = await sendLinesUntilFull(2);

  await waitForReadiness(503);
  expect((await readiness()).body.detail).toContain(FULL);
  await waitUntil('the log', 10_000, async () => pos.output.includes(FULL));
  expect(pos.output).not.toContain('cannot rollback');
  const order = { MerchantOrderId: '19', TotalToPay: 4_475, Products: [PRODUCT] };
  const refused = await pos.call('POST', '/Basket', order);
  expect(refused).toMatchObject({ status: 503, body: { Result: 'STOP', Message: expect.stringContaining(FULL) } });
  // Stored data can be read. A payment that cannot be stored is read again from the platform.
  expect((await pos.call('GET', '/v1/invoice/17/payment')).status).toBe(200);
  pos.platform.pay(pos.platform.openInvoices()[0]!);

  disk.empty();
  await waitForReadiness(200);
  await waitUntil('the log', 10_000, async () => pos.output.includes('the store can be written again'));
  await waitForPayment('18');
  expect(await lineCount()).toBe(1 + ids.length);
  expect((await sendLine(1_000)).status).toBe(200);
});

it('a program that starts on a full disk serves what was answered OK, and stores again when there is space', async () => {
  const ids = await sendLinesUntilFull(1);
  await pos.kill();
  await pos.start();
  expect(await lineCount()).toBe(ids.length);
  // SQLite may first write over old parts of its files, which need no space.
  ids.push(...(await sendLinesUntilFull(ids.length + 1)));
  await waitForReadiness(503);
  disk.empty();
  await waitForReadiness(200);
  expect((await sendLine(1_000)).status).toBe(200);
  expect(await lineCount()).toBe(ids.length + 1);
});
