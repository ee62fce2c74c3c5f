import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { PasskeyProof } from '@svc/contracts';
import { CONSOLE_URL } from './identity.js';

/** Flags of the authenticator data: user present, user verified, attested credential data included. */
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const ATTESTED = 0x40;

interface AnswerOptions {
  readonly origin?: string;
  readonly rpId?: string;
  /** The signature counter of the answer. */
  readonly counter?: number;
  readonly isUserVerified?: boolean;
  readonly userHandle?: string;
}

interface Challenge {
  readonly options: Record<string, unknown>;
  readonly challengeToken: string;
}

/** An authenticator with one ES256 credential, which answers as a browser does. */
export class SoftwareAuthenticator {
  readonly credentialId = randomBytes(16).toString('base64url');
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  /** The answer to `navigator.credentials.create`. */
  register({ options, challengeToken }: Challenge, answer: AnswerOptions = {}): PasskeyProof {
    const clientDataJSON = toClientData('webauthn.create', options, answer);
    const credentialId = Buffer.from(this.credentialId, 'base64url');
    const idLength = Buffer.alloc(2);
    idLength.writeUInt16BE(credentialId.length);
    const attested = Buffer.concat([Buffer.alloc(16), idLength, credentialId, toCoseKey(this.keys.publicKey)]);
    const authData = Buffer.concat([toAuthenticatorData(answer, ATTESTED), attested]);
    const attestation = new Map<string, string | Map<string, string> | Uint8Array>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, string>()],
      ['authData', new Uint8Array(authData)],
    ]);
    const attestationObject = Buffer.from(isoCBOR.encode(attestation)).toString('base64url');
    return this.toProof(challengeToken, { clientDataJSON, attestationObject });
  }

  /** The answer to `navigator.credentials.get`. */
  answer({ options, challengeToken }: Challenge, answer: AnswerOptions = {}): PasskeyProof {
    const clientDataJSON = toClientData('webauthn.get', options, answer);
    const authenticatorData = toAuthenticatorData(answer, 0);
    const clientDataHash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signature = sign('sha256', Buffer.concat([authenticatorData, clientDataHash]), this.keys.privateKey);
    return this.toProof(challengeToken, {
      clientDataJSON,
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      ...(answer.userHandle === undefined ? {} : { userHandle: answer.userHandle }),
    });
  }

  private toProof(challengeToken: string, response: Record<string, string>): PasskeyProof {
    const id = this.credentialId;
    return {
      challengeToken,
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
    };
  }
}

function toClientData(
  type: string,
  { challenge }: Record<string, unknown>,
  { origin = CONSOLE_URL }: AnswerOptions,
): string {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url');
}

function toAuthenticatorData(answer: AnswerOptions, flags: number): Buffer {
  const { rpId = new URL(CONSOLE_URL).hostname, counter = 0, isUserVerified = true } = answer;
  const counterBytes = Buffer.alloc(4);
  counterBytes.writeUInt32BE(counter);
  const allFlags = flags | USER_PRESENT | (isUserVerified ? USER_VERIFIED : 0);
  return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([allFlags]), counterBytes]);
}

/** The public key in COSE: EC2, ES256, P-256, with both coordinates. */
function toCoseKey(key: KeyObject): Buffer {
  const { x, y } = key.export({ format: 'jwk' });
  const coordinate = (text: string | undefined): Uint8Array<ArrayBuffer> =>
    new Uint8Array(Buffer.from(text ?? '', 'base64url'));
  const cose = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, coordinate(x)],
    [-3, coordinate(y)],
  ]);
  return Buffer.from(isoCBOR.encode(cose));
}
