import { adminHelp } from './admin.ts';
import { webhooks } from './webhooks.ts';

type Called = [method: string, path: string, body?: object];

/** Answers in turn, and notes what was asked. */
function api(...answers: unknown[]): { call: (...called: Called) => Promise<unknown>; called: Called[] } {
  const called: Called[] = [];
  return {
    called,
    call: (...one) => {
      called.push(one);
      return Promise.resolve(answers[called.length - 1]);
    },
  };
}

const ID = '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f';

describe('./svc admin webhooks', () => {
  it('lists notifications, filtered', async () => {
    const listed = {
      id: ID,
      createdAt: '2026-03-01T10:00:00.000Z',
      merchantId: 7,
      paymentStatus: 'Success',
      state: 'gone',
      tries: 3,
      url: 'https://shop.example/',
    };
    const { call, called } = api({ notifications: [listed], after: ID });
    const lines = await webhooks.run(['list', '--state', 'gone', '--merchant', '7'], call);
    expect(called).toEqual([['GET', '/notifications?state=gone&merchantId=7']]);
    expect(lines[0]).toContain(ID);
    expect(lines[0]).toContain('https://shop.example/');
    expect(lines[1]).toBe('there are older ones');
  });

  it('shows which endpoints fail', async () => {
    const circuit = {
      merchantId: 7,
      endpoint: 'shop.example:443',
      failures: 9,
      openUntil: '2026-03-01T10:00:00.000Z',
      pending: 12,
    };
    expect(await webhooks.run(['failing'], api({ circuits: [circuit] }).call)).toEqual([
      'merchant 7  shop.example:443  9 failures in a row  left alone until 2026-03-01T10:00:00.000Z  12 waiting',
    ]);
  });

  it('replays one', async () => {
    const { call, called } = api({ status: 'due' });
    expect(await webhooks.run(['replay', ID], call)).toEqual([`${ID} is due now`]);
    expect(called).toEqual([['POST', `/notifications/${ID}/replay`]]);
  });

  it('replays many, page after page, and adds up', async () => {
    const { call, called } = api({ replayed: 998, skipped: 2, after: ID }, { replayed: 5, skipped: 0, after: null });
    const args = ['replay', '--merchant', '7', '--endpoint', 'shop.example:443', '--since', '2026-03-01T10:00:00Z'];
    const [line] = await webhooks.run(args, call);
    expect(line).toMatch(/^1003 due now, 2 left/);
    const asked = { merchantId: 7, endpoint: 'shop.example:443', since: '2026-03-01T10:00:00Z' };
    expect(called).toEqual([
      ['POST', '/notifications/replays', asked],
      ['POST', '/notifications/replays', { ...asked, after: ID }],
    ]);
  });

  it.each([
    [[]],
    [['resend']],
    [['show']],
    [['list', 'all']],
    [['replay', ID, '--state', 'gone']],
    [['replay', '--everything']],
    [['replay', '--merchant', 'seven']],
  ])('does not know %j', async (args) => {
    await expect(async () => webhooks.run(args, api().call)).rejects.toMatchObject({ exitCode: 2 });
  });

  it('is in the help', () => {
    expect(adminHelp()).toContain('webhooks replay <id>');
  });
});
