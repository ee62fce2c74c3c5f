import { changedSettings } from './changed-settings.js';

const SETTINGS = { name: 'Shop', requireApiKey: true, allowedHosts: ['a.example'] };

describe('changedSettings', () => {
  it('returns undefined for equal settings', () => {
    expect(changedSettings(SETTINGS, { ...SETTINGS, allowedHosts: ['a.example'] })).toBeUndefined();
  });

  it('returns only the changed settings, with their old and new values', () => {
    const after = { ...SETTINGS, requireApiKey: false, allowedHosts: ['b.example'] };
    expect(changedSettings(SETTINGS, { ...SETTINGS, name: 'Till' })).toEqual({
      before: { name: 'Shop' },
      after: { name: 'Till' },
    });
    expect(changedSettings(SETTINGS, after)).toEqual({
      before: { requireApiKey: true, allowedHosts: ['a.example'] },
      after: { requireApiKey: false, allowedHosts: ['b.example'] },
    });
  });
});
