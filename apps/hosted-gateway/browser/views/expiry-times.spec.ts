import { openInDom, readText, RENDERED_AT } from '../../test/open-page.js';
import { openPage } from '../../test/pages.js';

const DAY_MS = 86_400_000;
const WARN_BEFORE_MS = 5 * 60_000;

beforeEach(() => jest.useFakeTimers({ now: RENDERED_AT }));
afterEach(() => jest.useRealTimers());

const addToNow = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();
const isWarningShown = (): boolean => !document.getElementById('expiring')!.hidden;
const hasExtensionButton = (): boolean => document.getElementById('more-time') !== null;

async function openWithExpiry(expiresAt: string) {
  openInDom({ ...openPage, expiresAt });
  const { ExpiryWarning } = await import('./expiry-warning.js');
  const onExtended = jest.fn<void, []>();
  return { warning: new ExpiryWarning(onExtended), onExtended };
}

describe('ExpiryWarning', () => {
  it('shows the warning five minutes before the expiry', async () => {
    await openWithExpiry(addToNow(WARN_BEFORE_MS + 1_000));
    jest.advanceTimersByTime(999);
    expect(isWarningShown()).toBe(false);
    jest.advanceTimersByTime(1);
    expect(isWarningShown()).toBe(true);
    expect(readText('expiring-text')).not.toBe('');
  });

  it('shows the expiry in the time zone of the merchant', async () => {
    const { expiresAt } = openPage;
    openInDom({ ...openPage, timeZone: 'Asia/Kathmandu' });
    const { ExpiryWarning } = await import('./expiry-warning.js');
    new ExpiryWarning(jest.fn());
    jest.advanceTimersByTime(Date.parse(expiresAt) - WARN_BEFORE_MS - Date.now());
    expect(readText('expiring-text')).toContain('21 November 2026 at 00:18 GMT+5:45');
  });

  it.each([
    ['less than a day', DAY_MS - 1, 1],
    ['a day', DAY_MS, 0],
    // Browsers run a timer of more than 24.8 days immediately.
    ['thirty days', 30 * DAY_MS, 0],
  ])('starts the right number of timers with %s until the warning', async (_time, untilWarning, timers) => {
    await openWithExpiry(addToNow(untilWarning + WARN_BEFORE_MS));
    expect(jest.getTimerCount()).toBe(timers);
    jest.advanceTimersByTime(1_000);
    expect(isWarningShown()).toBe(false);
  });

  it('hides the warning when the expiry is postponed, and shows it again before the new expiry', async () => {
    const { warning, onExtended } = await openWithExpiry(addToNow(WARN_BEFORE_MS));
    jest.advanceTimersByTime(0);
    expect([isWarningShown(), hasExtensionButton()]).toEqual([true, true]);
    warning.updateExpiry(addToNow(WARN_BEFORE_MS + 60_000));
    expect([isWarningShown(), hasExtensionButton()]).toEqual([false, false]);
    expect(onExtended).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(60_000);
    expect(isWarningShown()).toBe(true);
  });

  it('shows and focuses the later expiry after the payer has extended the session', async () => {
    const later = addToNow(WARN_BEFORE_MS + 15 * 60_000);
    await openWithExpiry(addToNow(WARN_BEFORE_MS));
    const extended = Response.json({ state: 'open', version: 2, expiresAt: later });
    const fetchMock = jest.spyOn(globalThis, 'fetch').mockResolvedValue(extended);
    jest.advanceTimersByTime(0);
    const before = readText('expiring-text');
    document.getElementById('more-time')!.click();
    await jest.advanceTimersByTimeAsync(10);
    fetchMock.mockRestore();
    expect([isWarningShown(), hasExtensionButton()]).toEqual([true, false]);
    expect(readText('expiring-text')).not.toBe(before);
    expect(document.activeElement?.id).toBe('expiring-text');
  });

  it('ignores a state whose expiry is absent, invalid, earlier or unchanged', async () => {
    const { warning, onExtended } = await openWithExpiry(addToNow(WARN_BEFORE_MS));
    jest.advanceTimersByTime(0);
    for (const expiresAt of [undefined, 'soon', addToNow(WARN_BEFORE_MS - 1), addToNow(WARN_BEFORE_MS)])
      warning.updateExpiry(expiresAt);
    expect([isWarningShown(), hasExtensionButton()]).toEqual([true, true]);
    expect(onExtended).not.toHaveBeenCalled();
  });
});
