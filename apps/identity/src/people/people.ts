import type { Provider, Type } from '@nestjs/common';
import { DirectoryConsumer } from './directory/directory.consumer.js';
import { ListPeople } from './directory/list-people.js';
import { PeopleController, PersonFactorsController, SignInLinksController } from './directory/people.controller.js';
import { AcceptInvitations } from './invitations/accept-invitation.js';
import { InvitationsConsumer } from './invitations/invitations.consumer.js';
import { InvitePeople } from './invitations/invite-person.js';
import { SendMails } from './mails/send-mails.js';
import { ChangeOperatorKeys } from './operator-keys/change-operator-keys.js';
import { OperatorKeysController } from './operator-keys/operator-keys.controller.js';
import { ChangeOperators } from './operators/change-operator.js';
import { InviteOperators } from './operators/invite-operator.js';
import { ListOperators } from './operators/list-operators.js';
import { OperatorsController } from './operators/operators.controller.js';
import { CheckPasskey } from './passkeys/check-passkey.js';
import { RegisterPasskey } from './passkeys/register-passkey.js';
import { DeleteExpiredPeopleData } from './retention/delete-expired.js';
import { ChangeRoles } from './roles/change-role.js';
import { RemovePeople } from './roles/remove-person.js';
import { RolesConsumer } from './roles/roles.consumer.js';
import { RemoveSecondFactor } from './second-factors/remove-second-factor.js';
import { ResetPersonFactors } from './second-factors/reset-second-factors.js';
import { SecondFactorsConsumer } from './second-factors/second-factors.consumer.js';
import { AuthenticateActor } from './sessions/authenticate-actor.js';
import { SessionsConsumer } from './sessions/sessions.consumer.js';
import { StartSession } from './sessions/start-session.js';
import { BeginPersonSignIn } from './sign-in/begin-sign-in.js';
import { CheckCode } from './sign-in/check-code.js';
import { CheckPassword } from './sign-in/check-password.js';
import { ConfirmPeople } from './sign-in/confirm-person.js';
import { FinishPersonSignIn } from './sign-in/finish-sign-in.js';
import { SignInConsumer } from './sign-in/sign-in.consumer.js';
import { SignInLimits } from './sign-in/sign-in-limits.js';
import { SignInLinksConsumer } from './sign-in-links/sign-in-links.consumer.js';
import { SignInLinks } from './sign-in-links/sign-in-links.js';
import { SetUpTotp } from './totp/set-up-totp.js';

/** The people of merchants and the operators of the platform, who sign in to the console: their invitations, sign-ins, second factors, sessions and roles. */
export const PEOPLE_CONTROLLERS: Type[] = [
  SessionsConsumer,
  SignInConsumer,
  SignInLinksConsumer,
  SecondFactorsConsumer,
  InvitationsConsumer,
  RolesConsumer,
  DirectoryConsumer,
  PeopleController,
  PersonFactorsController,
  SignInLinksController,
  OperatorsController,
  OperatorKeysController,
];

export const PEOPLE_PROVIDERS: Provider[] = [
  AuthenticateActor,
  StartSession,
  SignInLimits,
  CheckPassword,
  CheckCode,
  CheckPasskey,
  BeginPersonSignIn,
  FinishPersonSignIn,
  ConfirmPeople,
  SignInLinks,
  SetUpTotp,
  RegisterPasskey,
  RemoveSecondFactor,
  ResetPersonFactors,
  SendMails,
  InvitePeople,
  AcceptInvitations,
  ChangeRoles,
  RemovePeople,
  ListPeople,
  InviteOperators,
  ChangeOperators,
  ListOperators,
  ChangeOperatorKeys,
  DeleteExpiredPeopleData,
];
