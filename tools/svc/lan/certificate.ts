/**
 * The certificate of `./svc up --lan`: self-signed, for this machine's address on the network. Browsers encrypt card data
 * in secure contexts only, and a page is one once its reader has accepted the certificate.
 *
 * It is no authority (CA: FALSE): what a phone accepts is this machine's page, never another that its key would sign.
 */
import 'reflect-metadata'; // First: the library below registers its classes through it.
import { X509Certificate, createPrivateKey, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
/** Phones refuse one that is good for more than 825 days, and some for more than 398. */
const VALID_DAYS = 397;
const RENEW_DAYS_BEFORE = 30;
/** A phone whose clock is behind must not find it not yet valid. */
const BACKDATED_DAYS = 1;
const FOR_EVERYBODY = 0o644;
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface Certificate {
  /** SHA-256 of the whole, as phones show it: pairs of hexadecimal digits with colons. */
  readonly fingerprint: string;
  /** Why it was made anew; undefined: it was there. */
  readonly renewalReason: string | undefined;
  readonly validUntil: Date;
}

/** The certificate for an address, kept from one start to the next and renewed where it has to be. */
export async function ensureCertificate(files: CertificateFiles, address: string, now: Date): Promise<Certificate> {
  const reason = renewalReason(readPair(files), address, now);
  if (reason !== undefined) await make(files, address, now);
  chmodSync(files.key, OWNER_ONLY); // However it got there.
  const { fingerprint256, validTo } = new X509Certificate(readFileSync(files.certificate));
  return { fingerprint: fingerprint256, renewalReason: reason, validUntil: new Date(validTo) };
}

/** What was found in the files. */
export interface KnownCertificate {
  readonly certificate: X509Certificate;
  readonly hasItsKey: boolean;
}

/** Why a certificate has to be made, in words that follow "made anew:"; undefined where the known one will do. */
export function renewalReason(known: KnownCertificate | undefined, address: string, now: Date): string | undefined {
  if (known === undefined) return 'there was none';
  const { certificate, hasItsKey } = known;
  if (!hasItsKey) return 'its key was lost';
  if (certificate.checkIP(address) === undefined) return 'the address has changed';
  if (now < new Date(certificate.validFrom)) return 'it was not valid yet';
  const renewAt = new Date(certificate.validTo).getTime() - RENEW_DAYS_BEFORE * DAY_MILLISECONDS;
  return now.getTime() >= renewAt ? 'it was about to run out' : undefined;
}

function readPair(files: CertificateFiles): KnownCertificate | undefined {
  if (!existsSync(files.certificate)) return undefined;
  try {
    const certificate = new X509Certificate(readFileSync(files.certificate));
    const hasItsKey = existsSync(files.key) && certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key)));
    return { certificate, hasItsKey };
  } catch {
    return undefined; // Half a file, or no certificate: with a new one the phone only asks once more.
  }
}

async function make(files: CertificateFiles, address: string, now: Date): Promise<void> {
  const { subtle } = globalThis.crypto;
  const keys = await subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // Positive, and 16 bytes at most: the first bit stays clear.
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    name: [{ CN: [`Svc Payments on ${address}`] }],
    notBefore: new Date(now.getTime() - BACKDATED_DAYS * DAY_MILLISECONDS),
    notAfter: new Date(now.getTime() + VALID_DAYS * DAY_MILLISECONDS),
    signingAlgorithm: KEY_ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: address },
        ...namesOf(hostname()).map((value) => ({ type: 'dns' as const, value })),
      ]),
    ],
  });
  const key = PemConverter.encode(await subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  mkdirSync(dirname(files.key), { recursive: true, mode: 0o700 });
  writeAtomically(files.key, `${key}\n`, OWNER_ONLY);
  writeAtomically(files.certificate, `${certificate.toString('pem')}\n`, FOR_EVERYBODY);
}

/** Names of this machine beside its address. A host may be called what no certificate may hold. */
export function namesOf(host: string): string[] {
  const isName = /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i.test(host);
  return [...new Set(['localhost', ...(isName && host.length <= 253 ? [host.toLowerCase()] : [])])];
}
