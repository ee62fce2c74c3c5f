import {
  declined,
  everyState,
  open,
  order,
  render,
  reversedCharges,
  succeeded,
  textOf,
  verification,
  withoutLanguages,
} from '../../test/pages.js';
import type { PayPageModel } from './pay-page-model.js';

const sessionPages = everyState.filter(({ state }) => !['not-found', 'till', 'unavailable'].includes(state));

describe('the page without a form', () => {
  it('in state processing asks the payer to wait, and reloads automatically in browsers without scripts', () => {
    const html = render({ ...order, state: 'processing', isLate: false });
    expect(textOf(html)).toContain('Confirming with your bank…');
    expect(/<p class="hint" id="processing-late" hidden/.test(html)).toBe(true);
    const late = render({ ...order, state: 'processing', isLate: true });
    expect(textOf(late)).toContain('Still checking with your bank. Do not pay again.');
    expect(/<p class="hint" id="processing-late" hidden/.test(late)).toBe(false);
    expect(html).toMatch(/<noscript><meta http-equiv="refresh" content="5"\s*\/?><\/noscript>/);
    expect(html).not.toContain('<form');
  });

  it('in state verification has a link to the bank, its deadline, and a link to use another card if that is possible', () => {
    const html = render(verification);
    expect(html).toContain('href="https://bank.example/challenges/1?a=b&amp;c=d"');
    expect(textOf(html)).toContain('Nothing is charged before you have confirmed.');
    for (const shown of ['20 November 2026 at 18:18 UTC', '20 November 2026 at 18:03 UTC', '**** 3220', 'R 123.45'])
      expect(textOf(html)).toContain(shown);
    expect(html).toContain('href="?sessionId=1&amp;card=another"');
    expect(html).toMatch(/<noscript><meta http-equiv="refresh"/);
    const { anotherCardUrl: _, ...withoutAnotherCard } = verification;
    expect(render(withoutAnotherCard)).not.toContain('card=another');
    expect(render({ ...verification, verificationUrl: 'javascript:alert(1)' })).not.toContain('javascript');
  });

  it('shows reversed charges in every state, with amount, card and time', () => {
    for (const model of sessionPages) {
      const text = textOf(render({ ...model, reversedCharges } as PayPageModel));
      for (const shown of ['was given back to your card', 'R 99.00', '**** 0119', '20 November 2026 at 18:04 UTC'])
        expect(text).toContain(shown);
    }
    expect(render({ ...open, reversedCharges: [] })).not.toContain('given back');
    expect(render(open)).not.toContain('given back');
  });

  it('shows the initial of any merchant name, in a colour that depends on the name', () => {
    const findMark = (merchantName: string) =>
      /<span class="mark tone-(\d)"[^>]*>([^<]*)<\/span>/.exec(render({ ...open, merchantName }));
    expect(findMark('karoo coffee')?.slice(1)).toEqual(findMark('karoo coffee')?.slice(1));
    expect(findMark('karoo coffee')?.[2]).toBe('K');
    expect(findMark('"><b>7</b>')?.[2]).toBe('B');
    expect([findMark('😀')?.[2], findMark('')?.[2], findMark('\u202E…')?.[2]]).toEqual(['•', '•', '•']);
    const tones = new Set(Array.from({ length: 200 }, (_, index) => findMark(`Shop ${index}`)?.[1]));
    expect(tones.size).toBe(8);
  });

  it('in state succeeded is a receipt with a link to the shop that works without scripts', () => {
    const html = render(succeeded);
    for (const shown of ['Payment successful', '1VQ5K3P0ABCDEFGHJK', '20 November 2026 at 18:03 UTC', 'R 123.45']) {
      expect(textOf(html)).toContain(shown);
    }
    expect(html).toContain(
      '<a class="primary" id="return-link" href="https://shop.example/thanks?paymentStatus=Success">',
    );
    const text = textOf(html);
    for (const shownOnce of ['R 123.45', 'order-1001', '**** 4242'])
      expect([shownOnce, text.split(shownOnce).length]).toEqual([shownOnce, 2]);
    expect(text).toContain('give the payment reference');
    const { cardLabel: _, ...charge } = succeeded.charge!;
    expect(textOf(render({ ...succeeded, charge }))).not.toContain('Card');
    expect(textOf(html)).toContain('Return to Karoo Coffee');
    expect(html).toContain('id="returning"');
  });

  it('of a test session shows in every state that no money moves, and of a live session does not', () => {
    for (const model of [open, declined, succeeded, verification]) {
      expect(textOf(render({ ...model, isTest: true }))).toContain('TEST: no money moves');
      expect(textOf(render(model))).not.toContain('TEST');
    }
  });

  it('has no reload link, but the form has one in case the script does not load', () => {
    expect(render(open)).toContain('<a href>load the page again</a>');
    expect(render(succeeded)).not.toContain('script-late');
  });

  it('in state already-paid has the receipt and does not redirect', () => {
    const html = render({ ...succeeded, state: 'already-paid' });
    expect(textOf(html)).toContain('This order is already paid');
    expect(html).not.toContain('id="returning"');
  });

  it.each([
    ['refused', 'This payment cannot be tried again'],
    ['expired', 'This payment page has expired'],
    ['cancelled', 'This payment was cancelled'],
  ] as const)('in state %s shows the heading "%s", and that nothing was charged', (state, heading) => {
    const html = render({ ...order, state });
    expect(textOf(html)).toContain(heading);
    expect(textOf(html)).toContain('Nothing was charged.');
    expect(html).not.toContain('<form');
    expect(html).not.toContain('data-encryption-key');
  });

  it('in state not-found contains no session id and no link', () => {
    const html = render({ state: 'not-found' });
    expect(textOf(html)).toContain('This payment page does not exist');
    expect(html).not.toContain('data-session-id');
    expect(withoutLanguages(html)).not.toContain('<a ');
  });
});
