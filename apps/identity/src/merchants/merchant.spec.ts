import { DomainError } from '@svc/kernel';
import { merchantChanged, type MerchantSettings, normaliseMerchantSettings } from './merchant.js';

const SETTINGS: MerchantSettings = { name: 'Merchant', features: {}, minimumAmount: 100, grants: [], fees: {} };
const grant = (organisationId: string, vouchers: boolean, externalPayments: boolean) => ({
  organisationId,
  vouchers,
  externalPayments,
});

describe('stored settings', () => {
  it('contain only known settings', () => {
    expect(normaliseMerchantSettings({ ...SETTINGS, merchantId: 7, version: 2 } as MerchantSettings)).toStrictEqual(
      SETTINGS,
    );
  });

  it('contain each feature with its given members, in a fixed order', () => {
    const features = {
      tip: { enabled: false, more: 1 },
      orderReference: { required: true, editable: false, label: 'Table', more: 1 },
      amount: { editable: true, more: 1 },
      more: {},
    };
    const settled = normaliseMerchantSettings({ ...SETTINGS, features }).features;
    expect(JSON.stringify(settled)).toBe(
      JSON.stringify({
        amount: { editable: true },
        orderReference: { label: 'Table', editable: false, required: true },
        tip: { enabled: false },
      }),
    );
  });

  it('omit null and absent values', () => {
    const features = { amount: { editable: null }, orderReference: {}, tip: null } as unknown;
    const settled = normaliseMerchantSettings({ ...SETTINGS, features: features as MerchantSettings['features'] });
    expect(settled.features).toStrictEqual({ amount: {}, orderReference: {} });
  });

  it('contain only grants with a permission, with the organisation in lower case', () => {
    const grants = [grant('A', true, false), grant('b', false, true), grant('c', true, true), grant('d', false, false)];
    expect(
      normaliseMerchantSettings({ ...SETTINGS, grants: grants.map((each) => ({ ...each, more: 1 })) }).grants,
    ).toStrictEqual([grant('a', true, false), grant('b', false, true), grant('c', true, true)]);
  });

  it('reject two grants for one organisation, regardless of case', () => {
    const refused = (): unknown =>
      normaliseMerchantSettings({ ...SETTINGS, grants: [grant('a', true, false), grant('A', false, true)] });
    expect(refused).toThrow(DomainError);
    expect(refused).toThrow(
      expect.objectContaining({ fields: [{ field: 'grants', message: 'grants must name each organisation once' }] }),
    );
  });

  it('contain the fees of each mode that has fees', () => {
    const terms = { basisPoints: 290, fixedAmount: 150 };
    const fees = { live: { ...terms, more: 1 }, test: null, more: 1 } as unknown as MerchantSettings['fees'];
    expect(normaliseMerchantSettings({ ...SETTINGS, fees }).fees).toStrictEqual({ live: terms });
  });

  it('accept a second grant without a permission', () => {
    const grants = [grant('a', true, false), grant('A', false, false)];
    expect(normaliseMerchantSettings({ ...SETTINGS, grants }).grants).toEqual([grant('a', true, false)]);
  });
});

test('other services receive the whole merchant and its version', () => {
  const features = { tip: { enabled: true } };
  const grants = [grant('a', true, true)];
  const fees = { live: { basisPoints: 290, fixedAmount: 150 } };
  const settings = { name: 'Merchant', features, minimumAmount: 500, grants, fees };
  const merchant = { merchantId: 1001, ...settings, createdAt: new Date(0), version: 3 };
  expect(merchantChanged(merchant)).toStrictEqual({
    type: { name: 'merchant.changed.v1' },
    aggregateId: '1001',
    aggregateVersion: 3,
    payload: { merchantId: 1001, name: 'Merchant', features, minimumAmount: 500, grants, fees },
  });
});
