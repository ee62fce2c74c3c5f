import { type AdminCommand, type Input, parameter, segment, wrongInput } from './command.ts';

/** Those that consume events; each keeps its own dead letters. */
const SERVICES = [
  'identity',
  'payment-processor',
  'hosted-gateway',
  'webhook-dispatcher',
  'code-decoder',
  'payment-history',
];

/** Messages that a service gave up on after five deliveries, and having them handled again once the cause is mended. */
export const deadLetterCommands: readonly AdminCommand[] = [
  {
    name: 'dead-letters list',
    parameters: ['service'],
    summary: 'the newest 200 messages that a service gave up on, and why',
    run: async (api, input) => {
      const answer = await api.call('GET', `/dead-letters/${serviceOf(input)}`);
      return (answer as { deadLetters: unknown }).deadLetters;
    },
  },
  {
    name: 'dead-letters replay',
    parameters: ['service', 'messageId'],
    summary: 'has one handled again, now; it is gone when that succeeds',
    run: (api, input) => api.call('POST', `/dead-letters/${serviceOf(input)}/${segment(parameter(input, 1))}/replay`),
  },
];

function serviceOf(input: Input): string {
  const service = parameter(input, 0);
  if (!SERVICES.includes(service)) throw wrongInput(`"${service}" keeps no dead letters: ${SERVICES.join(', ')} do`);
  return service;
}
