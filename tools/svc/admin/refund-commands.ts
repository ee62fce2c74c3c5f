import type { AdminCommand } from './command.ts';

/** Refunds of all merchants. A refund is made by the merchant's own key (M5), never by an administrator's. */
export const refundCommands: readonly AdminCommand[] = [
  {
    name: 'refunds list',
    parameters: [],
    options: { payment: 'text', pending: 'flag' },
    summary: 'the newest 100; --payment: of one svcId; --pending: those that wait for the bank, the longest first',
    run: async (api, { options }) => {
      const query = new URLSearchParams();
      if (options['payment'] !== undefined) query.set('svcId', String(options['payment']));
      if (options['pending'] === true) query.set('state', 'pending');
      const path = query.size === 0 ? '/refunds' : `/refunds?${query}`;
      return ((await api.call('GET', path)) as { refunds: unknown }).refunds;
    },
  },
];
