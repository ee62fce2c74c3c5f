import { readBrowserData } from './browser-data.js';

const replaceGlobal = (name: 'navigator' | 'screen', value: unknown): void =>
  void Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
const { navigator: originalNavigator } = globalThis;
afterEach(() => {
  replaceGlobal('navigator', originalNavigator);
  Reflect.deleteProperty(globalThis, 'screen');
});

test('readBrowserData returns language, screen and time zone of the browser', () => {
  replaceGlobal('navigator', { language: 'en-ZA' });
  replaceGlobal('screen', { width: 1440, height: 900, colorDepth: 24 });
  expect(readBrowserData()).toEqual({
    language: 'en-ZA',
    screenWidth: 1440,
    screenHeight: 900,
    colorDepth: 24,
    timeZoneOffsetMinutes: new Date().getTimezoneOffset(),
  });
});

test('readBrowserData returns undefined if the browser does not provide these data', () => {
  expect(readBrowserData()).toBeUndefined();
});
