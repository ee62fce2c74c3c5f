import type { Order } from '../orders/order.js';
import { computeRefreshSeconds, renderOrderPage } from './order-page.js';
import { ShopAssets } from './shop-assets.js';
import { renderShopPage } from './shop-page.js';

const createdAt = new Date('2026-03-01T10:00:00.000Z');
const order: Order = {
  orderId: '0d0a4f0e-5d0c-4a3e-9d2a-0c6f2b7a1e11',
  orderNumber: 1001,
  lines: [{ productId: 'enamel-mug', name: 'Enamel Mug', quantity: 2, unitPriceCents: 9_900 }],
  totalCents: 19_800,
  createdAt,
  state: 'awaiting-payment',
  paymentReference: null,
  paidAt: null,
  sessionNumber: 1,
  sessionRequestedAt: createdAt,
  sessionId: null,
  redirectUrl: null,
};

describe('the pages of the shop', () => {
  it('contain no inline script, no inline style and no file of another origin, because the content security policy would block them', () => {
    for (const page of [renderShopPage('id'), renderOrderPage(order, [], { refresh: 2 })]) {
      expect(page).not.toMatch(/<script(?! src="\/assets\/)|<style|\sstyle=|\son\w+=|(src|href)="(https?:)?\/\//);
    }
  });

  it('use only assets that the shop serves', () => {
    const assets = new ShopAssets();
    const files = [
      ...`${renderShopPage('id')}${renderOrderPage(order, [], { refresh: 2 })}`.matchAll(/\/assets\/([\w.-]+)/g),
    ].map(([, file]) => file!);
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter((file) => assets.find(file) === undefined)).toEqual([]);
  });

  it('have no product that the customer did not choose', () => {
    const values = [...renderShopPage('id').matchAll(/<input id="quantity[^>]* value="(\d+)"/g)].map(
      ([, value]) => value,
    );
    expect(values).toEqual(['0', '0', '0', '0']);
  });

  it('have "is paid" in the title only if the order is paid', () => {
    const readTitle = (page: string) => /<title>([^<]*)/.exec(page)?.[1];
    expect(readTitle(renderOrderPage(order, [], { refresh: 2 }))).not.toContain('is paid');
    expect(readTitle(renderOrderPage({ ...order, state: 'paid' }, []))).toContain('ORDER-1001 is paid');
  });

  it('have no refresh element, because a reload of the page would lose focus and scroll position', () => {
    expect(renderOrderPage(order, [], { refresh: 2 })).not.toContain('http-equiv="refresh"');
  });

  it('escape text that the shop received in a webhook', () => {
    const failed = {
      sessionId: 's',
      paymentReference: 'ref',
      userMessage: '<img src=x onerror=alert(1)>',
      paymentUTCDate: createdAt,
    };
    expect(renderOrderPage(order, [failed])).toContain('&lt;img src=x');
  });
});

describe('computeRefreshSeconds', () => {
  const minutesAfterSession = (minutes: number): Date => new Date(createdAt.getTime() + minutes * 60_000);
  it.each([
    [0, 2],
    [34, 2],
    [36, 15],
    [23 * 60, 15],
    [25 * 60, undefined],
  ])('returns for a session that was created %p minutes ago: %p', (minutes, seconds) =>
    expect(computeRefreshSeconds(order, minutesAfterSession(minutes))).toBe(seconds),
  );

  it('is undefined when the order is paid', () => {
    expect(
      computeRefreshSeconds({ ...order, state: 'paid', paymentReference: 'x', paidAt: createdAt }, createdAt),
    ).toBeUndefined();
  });
});
