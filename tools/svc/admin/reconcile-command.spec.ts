import type { Administration } from '../base/administration.ts';
import { findCommand } from './admin.ts';
import { Findings, readInput } from './command.ts';

const ROW = { merchantId: 1001, mode: 'test', payments: 2, books: { payments: 0, ledger: 1, stream: 'outside' } };
const DIFFERENCE = {
  ...{ book: 'ledger', merchantId: 1001, mode: 'test', key: 'REF capture', kind: 'differs', field: 'amount' },
  ...{ expected: 100, found: 101 },
};

/** What the command returns where the API answers with these runs, and what it asked for. */
async function reconcile(line: string, ...runs: object[]): Promise<{ answer: unknown; asked: string[] }> {
  const asked: string[] = [];
  const api: Administration = {
    text: (path) => Promise.reject(new Error(`Nobody asks for ${path}.`)),
    call: (method, path, body) => {
      asked.push([method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' '));
      return Promise.resolve(method === 'POST' ? { runId: 'r' } : runs.shift());
    },
  };
  const args = line.split(' ');
  const command = findCommand(args);
  return { answer: await command.run(api, readInput(command, args.slice(1))), asked };
}

const done = (result: object) => ({ state: 'done', day: '2026-03-01', watermark: 'w', failure: null, result });
beforeEach(() => {
  jest.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => jest.restoreAllMocks());

describe('./svc admin reconcile', () => {
  it('asks for today and all merchants, waits, and prints a row for each merchant and mode', async () => {
    const agree = done({ merchants: [ROW], named: [], differences: 0 });
    const { answer, asked } = await reconcile('reconcile', { state: 'waiting' }, { state: 'running' }, agree);
    expect(asked).toEqual(['POST /reconciliations {}', ...Array<string>(3).fill('GET /reconciliations/r')]);
    expect(answer).toEqual([
      { merchantId: 1001, mode: 'test', payments: 2, 'payment rows': '=', ledger: 1, stream: 'outside' },
    ]);
  });

  it('asks for a day and a merchant', async () => {
    const agree = done({ merchants: [], named: [], differences: 0 });
    const { asked } = await reconcile('reconcile --day 2026-03-01 --merchant 1001', agree);
    expect(asked[0]).toBe('POST /reconciliations {"day":"2026-03-01","merchantId":1001}');
  });

  it.each([
    [DIFFERENCE, 'ledger says amount 101 of REF capture of merchant 1001 (test), the payments say 100'],
    [{ ...DIFFERENCE, kind: 'missing' }, 'ledger has no REF capture of merchant 1001 (test), which the payments have'],
    [
      { ...DIFFERENCE, kind: 'unexpected' },
      'ledger has REF capture of merchant 1001 (test), which the payments do not have',
    ],
    [
      { ...DIFFERENCE, book: 'payments', kind: 'missing' },
      'payments has no REF capture of merchant 1001 (test), which the other books have',
    ],
  ])('fails with 1 and names the first row: %j', async (difference, sentence) => {
    const result = { merchants: [ROW], named: [difference], differences: 1 };
    const { answer } = await reconcile('reconcile', done(result));
    expect(answer).toBeInstanceOf(Findings);
    const { failure, answer: shown } = answer as Findings;
    expect([failure.exitCode, failure.message]).toEqual([1, sentence]);
    expect(failure.hint).toMatch(/docs\/reconciliation.md/);
    expect(shown.json).toEqual(result);
  });

  it('says how many more there are', async () => {
    const { answer } = await reconcile('reconcile', done({ merchants: [], named: [DIFFERENCE], differences: 7 }));
    expect((answer as Findings).failure.message).toMatch(/, and 6 more/);
  });

  it('fails where the books could not be compared', async () => {
    const failed = { state: 'failed', day: '2026-03-01', watermark: null, failure: 'no answer', result: null };
    await expect(reconcile('reconcile', failed)).rejects.toMatchObject({
      exitCode: 1,
      message: 'the books of 2026-03-01 could not be compared: no answer',
    });
  });

  it.each(['reconcile --day yesterday', 'reconcile --merchant shop', 'reconcile 2026-03-01', 'reconcile --month 3'])(
    '%s is refused with 2',
    async (line) => {
      await expect(reconcile(line)).rejects.toMatchObject({ exitCode: 2 });
    },
  );
});
