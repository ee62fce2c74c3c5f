import { calledUrlProblem } from './called-url.js';

const messageOf = (text: string, allowLoopbackHttp = false): string | undefined =>
  calledUrlProblem('notificationUrl', text, { allowLoopbackHttp })?.message;
const nowhere = (why: string): string =>
  `notificationUrl must be an address on the internet: nothing is sent to this one (${why})`;

test.each([
  ['https://10.0.0.1/hook', nowhere('private')],
  ['https://192.168.1.10:8443/hook', nowhere('private')],
  ['https://[fd00::1]/hook', nowhere('unique-local')],
  ['https://169.254.169.254/latest', nowhere('link-local')],
  ['https://127.0.0.1/hook', nowhere('loopback')],
  ['https://0x7f.1/hook', nowhere('loopback')],
  ['http://shop.example/hook', 'notificationUrl must be https'],
  ['https://shop.example:9000/hook', 'notificationUrl must use port 443 or 8443'],
  ['https://shop.example/hook', undefined],
  ['https://196.25.1.1/hook', undefined],
])('%s: %s', (text, message) => {
  expect(messageOf(text)).toBe(message);
});

test('development may call this machine, and no other address of a private network', () => {
  expect(messageOf('http://127.0.0.1:7302/hook', true)).toBeUndefined();
  expect(messageOf('https://10.0.0.1/hook', true)).toBe(nowhere('private'));
});
