// Drills: *.drill-spec.ts. They take too long for `./svc test`, need root, or need a program that the project does not
// depend on. Run one by name: `./svc npm run drill -- broker-cluster`.
import tests from '../../jest.config.mjs';

const findProject = (name) => tests.projects.find(({ displayName }) => displayName === name);

export default {
  testTimeout: tests.testTimeout,
  projects: [
    { ...findProject('system'), displayName: 'drill', testMatch: ['<rootDir>/e2e/**/*.drill-spec.ts'] },
    { ...findProject('unit'), displayName: 'app-drill', testMatch: ['<rootDir>/apps/*/test/**/*.drill-spec.ts'] },
  ],
};
