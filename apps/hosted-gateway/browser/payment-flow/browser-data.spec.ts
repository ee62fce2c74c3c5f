import { readBrowserData } from './browser-data.js';

const replaced = (name: 'navigator' | 'screen', value: unknown): void =>
  void Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
const { navigator: before } = globalThis;
afterEach(() => {
  replaced('navigator', before);
  Reflect.deleteProperty(globalThis, 'screen');
});

test('the browser data contain what only a script can read', () => {
  replaced('navigator', { language: 'en-ZA' });
  replaced('screen', { width: 1440, height: 900, colorDepth: 24 });
  expect(readBrowserData()).toEqual({
    language: 'en-ZA',
    screenWidth: 1440,
    screenHeight: 900,
    colorDepth: 24,
    timeZoneOffsetMinutes: new Date().getTimezoneOffset(),
  });
});

test('there are no browser data if the browser does not provide them', () => {
  expect(readBrowserData()).toBeUndefined();
});
