import { calledUrlProblem } from './called-url.js';

const problemMessage = (text: string, allowLoopbackHttp = false): string | undefined =>
  calledUrlProblem('notificationUrl', text, { allowLoopbackHttp })?.message;
const refusalMessage = (reason: string): string =>
  `notificationUrl must be an address on the internet: nothing is sent to this one (${reason})`;

test.each([
  ['https://10.0.0.1/hook', refusalMessage('private')],
  ['https://192.168.1.10:8443/hook', refusalMessage('private')],
  ['https://[fd00::1]/hook', refusalMessage('unique-local')],
  ['https://169.254.169.254/latest', refusalMessage('link-local')],
  ['https://127.0.0.1/hook', refusalMessage('loopback')],
  ['https://0x7f.1/hook', refusalMessage('loopback')],
  ['http://shop.example/hook', 'notificationUrl must be https'],
  ['https://shop.example:9000/hook', 'notificationUrl must use port 443 or 8443'],
  ['https://shop.example/hook', undefined],
  ['https://196.25.1.1/hook', undefined],
])('the problem of the URL %s is: %s', (text, message) => {
  expect(problemMessage(text)).toBe(message);
});

test('in development, loopback addresses are accepted, but no other private addresses', () => {
  expect(problemMessage('http://127.0.0.1:7302/hook', true)).toBeUndefined();
  expect(problemMessage('https://10.0.0.1/hook', true)).toBe(refusalMessage('private'));
});
