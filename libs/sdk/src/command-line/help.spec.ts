import { HELP, isHelp } from './help.js';

test.each([[[]], [['--help']], [['-h']], [['help']], [['listen', '--help']], [['verify', '-h']]])(
  'svc-webhook %j prints the help',
  (args) => expect(isHelp(args)).toBe(true),
);

test.each([[['verify']], [['listen', '--forward-to', 'http://localhost']], [['trigger', 'payment.succeeded']]])(
  'svc-webhook %j runs the command',
  (args) => expect(isHelp(args)).toBe(false),
);

test('the help has a line for each command, and for each option', () => {
  for (const text of [
    'svc-webhook listen',
    'svc-webhook trigger',
    'svc-webhook verify',
    '--forward-to',
    '--received-at',
  ])
    expect(HELP).toContain(text);
  expect(HELP).not.toContain('Other commands');
});
