import { DomainError } from '@svc/kernel';
import { merchantChanged, type MerchantSettings, normaliseMerchantSettings } from './merchant.js';

const SETTINGS: MerchantSettings = {
  name: 'Merchant',
  features: {},
  minimumAmount: 100,
  maximumAmount: null,
  grants: [],
  fees: {},
  timeZones: [{ zone: 'Africa/Johannesburg' }],
};
const createGrant = (organisationId: string, vouchers: boolean, externalPayments: boolean) => ({
  organisationId,
  vouchers,
  externalPayments,
});

describe('normaliseMerchantSettings', () => {
  it('removes values that are not settings', () => {
    expect(normaliseMerchantSettings({ ...SETTINGS, merchantId: 7, version: 2 } as MerchantSettings)).toStrictEqual(
      SETTINGS,
    );
  });

  it('returns the members of each feature in a fixed order, without unknown members', () => {
    const features = {
      tip: { enabled: false, unknownMember: 1 },
      orderReference: { required: true, editable: false, label: 'Table', unknownMember: 1 },
      amount: { editable: true, unknownMember: 1 },
      unknownFeature: {},
    };
    const normalised = normaliseMerchantSettings({ ...SETTINGS, features }).features;
    expect(JSON.stringify(normalised)).toBe(
      JSON.stringify({
        amount: { editable: true },
        orderReference: { label: 'Table', editable: false, required: true },
        tip: { enabled: false },
      }),
    );
  });

  it('removes features and members that are null', () => {
    const features = { amount: { editable: null }, orderReference: {}, tip: null } as unknown;
    const normalised = normaliseMerchantSettings({ ...SETTINGS, features: features as MerchantSettings['features'] });
    expect(normalised.features).toStrictEqual({ amount: {}, orderReference: {} });
  });

  it('removes grants without a permission, and returns organisation ids in lower case', () => {
    const grants = [
      createGrant('A', true, false),
      createGrant('b', false, true),
      createGrant('c', true, true),
      createGrant('d', false, false),
    ];
    expect(
      normaliseMerchantSettings({ ...SETTINGS, grants: grants.map((grant) => ({ ...grant, unknownMember: 1 })) })
        .grants,
    ).toStrictEqual([createGrant('a', true, false), createGrant('b', false, true), createGrant('c', true, true)]);
  });

  it('throws for two grants of one organisation, regardless of upper and lower case', () => {
    const normaliseTwoGrants = (): unknown =>
      normaliseMerchantSettings({
        ...SETTINGS,
        grants: [createGrant('a', true, false), createGrant('A', false, true)],
      });
    expect(normaliseTwoGrants).toThrow(DomainError);
    expect(normaliseTwoGrants).toThrow(
      expect.objectContaining({ fields: [{ field: 'grants', message: 'grants must name each organisation once' }] }),
    );
  });

  it('returns the fees of each mode that has fees, without unknown members', () => {
    const terms = { basisPoints: 290, fixedAmount: 150 };
    const fees = {
      live: { ...terms, unknownMember: 1 },
      test: null,
      unknownMember: 1,
    } as unknown as MerchantSettings['fees'];
    expect(normaliseMerchantSettings({ ...SETTINGS, fees }).fees).toStrictEqual({ live: terms });
    const feesOfBothModes = { live: terms, test: { ...terms, fixedAmount: 0 } };
    expect(normaliseMerchantSettings({ ...SETTINGS, fees: feesOfBothModes }).fees).toStrictEqual(feesOfBothModes);
  });

  it('returns the members of each time zone in a fixed order, and accepts 100 time zones but not 101', () => {
    const timeZones = Array.from({ length: 100 }, () => ({ from: '2026-03-01T22:00:00.000Z', zone: 'UTC', more: 1 }));
    expect(JSON.stringify(normaliseMerchantSettings({ ...SETTINGS, timeZones }).timeZones[0])).toBe(
      '{"zone":"UTC","from":"2026-03-01T22:00:00.000Z"}',
    );
    const tooMany = [...timeZones, { zone: 'UTC' }];
    expect(() => normaliseMerchantSettings({ ...SETTINGS, timeZones: tooMany })).toThrow(
      expect.objectContaining({
        fields: [{ field: 'timeZone', message: 'timeZone must not change more than 99 times' }],
      }),
    );
  });

  it('accepts a second grant of an organisation if the second grant has no permission', () => {
    const grants = [createGrant('a', true, false), createGrant('A', false, false)];
    expect(normaliseMerchantSettings({ ...SETTINGS, grants }).grants).toEqual([createGrant('a', true, false)]);
  });
});

test('the event of a merchant contains all its settings and its version', () => {
  const features = { tip: { enabled: true } };
  const grants = [createGrant('a', true, true)];
  const fees = { live: { basisPoints: 290, fixedAmount: 150 } };
  const timeZones = [{ zone: 'Africa/Johannesburg' }, { zone: 'UTC', from: '2026-03-01T22:00:00.000Z' }];
  const settings = { name: 'Merchant', features, minimumAmount: 500, maximumAmount: 50_000, grants, fees, timeZones };
  const merchant = { merchantId: 1001, ...settings, createdAt: new Date(0), version: 3 };
  expect(merchantChanged(merchant)).toStrictEqual({
    type: { name: 'merchant.changed.v1' },
    aggregateId: '1001',
    aggregateVersion: 3,
    payload: { merchantId: 1001, ...settings },
  });
});
