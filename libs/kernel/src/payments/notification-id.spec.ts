import { isUuid } from '../uuid.js';
import { notificationIdOf } from './notification-id.js';

const PAYMENT = { paymentReference: '1H2J3K4M5N6P7Q8R9S', paymentUTCDate: '2026-03-01T09:59:58.123Z' };

describe('the id of a notification', () => {
  it('is always the same for a payment, because merchants deduplicate notifications by it', () => {
    // This value must not change: merchants have stored the ids of earlier notifications.
    expect(notificationIdOf(PAYMENT)).toBe('019ca8d7-25ab-777e-8b20-51e25d3ed4e3');
    expect(notificationIdOf({ ...PAYMENT, paymentUTCDate: '2026-03-01T11:59:58.123+02:00' })).toBe(
      notificationIdOf(PAYMENT),
    );
  });

  it('is a UUID of version 7 that differs for each payment', () => {
    const other = notificationIdOf({ ...PAYMENT, paymentReference: '1H2J3K4M5N6P7Q8R9T' });
    expect(isUuid(other)).toBe(true);
    expect(other[14]).toBe('7');
    expect(other).not.toBe(notificationIdOf(PAYMENT));
    expect(other.slice(0, 13)).toBe(notificationIdOf(PAYMENT).slice(0, 13));
  });
});
