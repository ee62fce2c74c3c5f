import type { PersonEntry } from '@svc/contracts';
import type { ComponentChildren } from 'preact';
import { fill } from '../languages/fill.js';
import { PostForm } from '../layout/form-elements.js';
import { Notice, pathOf, renderDocument } from '../layout/layout.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { placeName, RoleSelect } from './team-page.js';

interface PersonPage {
  readonly viewer: MerchantViewer;
  readonly person: PersonEntry;
  readonly problem?: string;
}

/** One person: a form for each role, the removal, and the reset of the second factors. */
export function renderPersonPage(page: PersonPage): string {
  const { viewer, person, problem } = page;
  const { texts, scope } = viewer;
  const { team } = texts;
  const managesAll = viewer.can('people.manage');
  const isOwn = viewer.session.personId === person.personId;
  return renderDocument({
    title: person.name,
    texts,
    viewer,
    current: 'team',
    children: (
      <>
        <p>
          <a href={`${pathOf(viewer)}/team`}>{team.back}</a>
        </p>
        <h1>{person.name}</h1>
        <p class="order">{person.email}</p>
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        <div class="columns">
          <Roles {...page} />
          <section class="card">
            <h2>{team.removeAll}</h2>
            <p>{team.removeWhy}</p>
            {person.roles
              .filter(({ siteId }) => siteId !== undefined && viewer.can('people.manage', siteId))
              .map(({ siteId }) => (
                <ActionForm {...page} action="remove" place={siteId}>
                  <button class="small">{fill(team.remove, { place: placeName(viewer, siteId) })}</button>
                </ActionForm>
              ))}
            {managesAll && scope.sites === 'all' ? (
              <ActionForm {...page} action="remove" place={undefined}>
                <button class="danger">{team.removeAll}</button>
              </ActionForm>
            ) : null}
          </section>
          {managesAll && !isOwn && person.secondFactors.length > 0 ? (
            <section class="card">
              <h2>{team.reset}</h2>
              <p>{fill(team.resetWhy, { name: person.name })}</p>
              <ActionForm {...page} action="reset" place={undefined}>
                <button class="danger">{team.resetSubmit}</button>
              </ActionForm>
            </section>
          ) : null}
        </div>
      </>
    ),
  });
}

function Roles(page: PersonPage) {
  const { viewer, person } = page;
  const { texts } = viewer;
  const { team } = texts;
  return (
    <section class="card">
      <h2>{team.role}</h2>
      {person.roles.map(({ role, siteId }) => {
        const place = placeName(viewer, siteId);
        if (!viewer.can('people.manage', siteId)) return <p>{fill(team.roleAt, { role: texts.roles[role], place })}</p>;
        return (
          <ActionForm {...page} action="role" place={siteId}>
            <label>
              {fill(team.changeRoleAt, { place })}
              <RoleSelect {...{ viewer, role }} />
            </label>
            <button>{team.changeRole}</button>
          </ActionForm>
        );
      })}
    </section>
  );
}

interface ActionForm extends PersonPage {
  readonly action: 'role' | 'remove' | 'reset';
  /** Id of a site; undefined for the whole merchant. */
  readonly place: number | undefined;
  readonly children: ComponentChildren;
}

function ActionForm({ viewer, person, action, place, children }: ActionForm) {
  return (
    <PostForm viewer={viewer} action={`${pathOf(viewer)}/team/${person.personId}/${action}`}>
      <input type="hidden" name="place" value={place === undefined ? '' : String(place)} />
      {children}
    </PostForm>
  );
}
