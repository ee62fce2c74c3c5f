import { openInDom, RENDERED_AT } from '../test/open-page.js';
import { allPages, openPage, order, verificationPage } from '../test/pages.js';

// The timers of the script do not run.
beforeEach(() => jest.useFakeTimers({ now: RENDERED_AT }));
afterEach(() => jest.useRealTimers());

const CLOSED_STATES = ['refused', 'expired', 'cancelled'];
const finalPages = allPages.filter(({ state }) => ['succeeded', 'already-paid', ...CLOSED_STATES].includes(state));

/** Shows the document again, as the browser's back button does. */
function showAgain(persisted: boolean): void {
  window.dispatchEvent(Object.assign(new window.Event('pageshow'), { persisted }));
}

describe('the script of a page that the back button shows', () => {
  it.each([openPage, verificationPage, { ...order, state: 'processing' as const, isLate: false }])(
    'loads the page again in state $state, because the state may be outdated',
    async (model) => {
      const { replace } = openInDom(model);
      await import('./pay.js');
      showAgain(true);
      expect(replace.mock.calls).toEqual([[order.callsPath]]);
    },
  );

  it.each(finalPages)('does not load the page again in state $state, which is final', async (model) => {
    const { replace } = openInDom(model);
    await import('./pay.js');
    showAgain(true);
    expect(replace).not.toHaveBeenCalled();
  });

  it('does not load a page again that the browser has just loaded', async () => {
    const { replace } = openInDom(openPage);
    await import('./pay.js');
    showAgain(false);
    expect(replace).not.toHaveBeenCalled();
  });
});
