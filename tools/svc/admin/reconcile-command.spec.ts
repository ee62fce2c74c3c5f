import type { Administration } from '../administration-api/administration.ts';
import { findCommand } from './admin.ts';
import { readInput } from './command.ts';

const ROW = {
  merchantId: 1001,
  mode: 'test',
  payments: 2,
  books: { payments: 0, ledger: 1, stream: 'past-retention' },
};
const DIFFERENCE = {
  ...{ book: 'ledger', merchantId: 1001, mode: 'test', key: 'REF capture', kind: 'differs', field: 'amount' },
  ...{ expected: 100, found: 101 },
};

/** Runs a command line. The API returns these states in turn. Returns the output and the requests. */
async function reconcile(line: string, ...states: object[]): Promise<{ output: unknown; requests: string[] }> {
  const requests: string[] = [];
  const api: Administration = {
    upload: (_method, path) => Promise.reject(new Error(`unexpected upload to ${path}`)),
    text: (path) => Promise.reject(new Error(`unexpected request for ${path}`)),
    call: (method, path, body) => {
      requests.push([method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' '));
      return Promise.resolve(method === 'POST' ? { runId: 'r' } : states.shift());
    },
  };
  const args = line.split(' ');
  const command = findCommand(args);
  return { output: await command.run(api, readInput(command, args.slice(1))), requests };
}

const finishedWith = (result: object) => ({ state: 'done', day: '2026-03-01', watermark: 'w', failure: null, result });
beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => jest.restoreAllMocks());

describe('./svc admin reconcile', () => {
  it('reconciles all merchants for today, waits, and prints a row for each merchant and mode', async () => {
    const finished = finishedWith({ merchants: [ROW], listedDifferences: [], differences: 0 });
    const { output, requests } = await reconcile('reconcile', { state: 'waiting' }, { state: 'running' }, finished);
    expect(requests).toEqual(['POST /reconciliations {}', ...Array<string>(3).fill('GET /reconciliations/r')]);
    expect(output).toEqual([
      { merchantId: 1001, mode: 'test', payments: 2, differs: 'ledger 1', notes: 'stream past-retention' },
    ]);
  });

  it('prints = for a merchant whose books agree, and only what is pending', async () => {
    const counts = { refundsPending: 1, unsettled: 0, undelivered: 3 };
    const row = { ...ROW, ...counts, books: { payments: 0, ledger: 0 } };
    const both = { ...ROW, books: { payments: 2, ledger: 1 } };
    const finished = finishedWith({ merchants: [row, both], listedDifferences: [], differences: 0 });
    const { output } = await reconcile('reconcile', finished);
    expect(output).toMatchObject([
      { differs: '=', notes: '1 refunds pending, 3 undelivered' },
      { differs: 'payment rows 2, ledger 1', notes: '' },
    ]);
  });

  it('reconciles one day and one merchant', async () => {
    const finished = finishedWith({ merchants: [], listedDifferences: [], differences: 0 });
    const { requests } = await reconcile('reconcile --day 2026-03-01 --merchant 1001', finished);
    expect(requests[0]).toBe('POST /reconciliations {"day":"2026-03-01","merchantId":1001}');
  });

  it.each([
    [DIFFERENCE, 'ledger has amount 101 for REF capture of merchant 1001 (test), but the payments have 100'],
    [{ ...DIFFERENCE, kind: 'missing' }, 'ledger has no REF capture of merchant 1001 (test), but the payments have'],
    [{ ...DIFFERENCE, kind: 'unexpected' }, 'ledger has REF capture of merchant 1001 (test), but the payments do not'],
    [
      { ...DIFFERENCE, book: 'payments', kind: 'missing' },
      'payments has no REF capture of merchant 1001 (test), but the other books have',
    ],
  ])('exits with 1 and describes the first difference: %j', async (difference, message) => {
    const result = { merchants: [ROW], listedDifferences: [difference], differences: 1 };
    await expect(reconcile('reconcile', finishedWith(result))).rejects.toMatchObject({
      exitCode: 1,
      message,
      hint: expect.stringContaining('docs/reconciliation.md'),
      output: { json: result },
    });
  });

  it('reports the number of further differences', async () => {
    const run = finishedWith({ merchants: [], listedDifferences: [DIFFERENCE], differences: 7 });
    await expect(reconcile('reconcile', run)).rejects.toThrow(/, and 6 more/);
  });

  it('fails when the reconciliation itself failed, because a service did not respond', async () => {
    const failed = { state: 'failed', day: '2026-03-01', watermark: null, failure: 'no response', result: null };
    await expect(reconcile('reconcile', failed)).rejects.toMatchObject({
      exitCode: 1,
      message: 'the reconciliation of 2026-03-01 failed: no response',
    });
  });

  it.each(['reconcile --day yesterday', 'reconcile --merchant shop', 'reconcile 2026-03-01', 'reconcile --month 3'])(
    'rejects %s with exit code 2',
    async (line) => {
      await expect(reconcile(line)).rejects.toMatchObject({ exitCode: 2 });
    },
  );
});
