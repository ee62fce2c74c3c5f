// Drills: e2e/**/*.drill-spec.ts. They take too long for `./svc test`, or need root. Run one by name:
// `./svc npm run drill -- broker-cluster`.
import tests from '../../jest.config.mjs';

const system = tests.projects.find(({ displayName }) => displayName === 'system');

export default {
  testTimeout: tests.testTimeout,
  projects: [{ ...system, displayName: 'drill', testMatch: ['<rootDir>/e2e/**/*.drill-spec.ts'] }],
};
