// receipt.mjs KEYS RECEIPT... verifies receipts with a library of others, which knows nothing of Trapeze: the log client of Sigstore. It prints, for each
// receipt, the number of its proofs and the events of their entries, or why it does not verify.
//
// The library reads signed notes and RFC 6962 proofs, and not c2sp.org/tlog-proof: this file takes that text apart.
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { verifyTLogInclusion } = createRequire(import.meta.url)('@sigstore/verify/dist/tlog');

// An Ed25519 key, as X.509 writes it, begins with these bytes.
const spki = Buffer.from('302a300506032b6570032100', 'hex');

// authority reads a key of c2sp.org/signed-note: NAME+HASH+BASE64 of the type 1 and the key.
function authority(line) {
  const [name, hash, ...rest] = line.split('+');
  const key = Buffer.from(rest.join('+'), 'base64');
  if (key[0] !== 1) throw new Error(`a key of type ${key[0]}`);
  return {
    baseURL: name,
    logID: Buffer.from(hash, 'hex'),
    publicKey: createPublicKey({ key: Buffer.concat([spki, key.subarray(1)]), format: 'der', type: 'spki' }),
    validFor: { start: new Date(0), end: new Date(8.64e15) },
  };
}

// base64 reads base64 in its one canonical form, which Buffer does not ask for.
function base64(text) {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new Error('not base64');
  return bytes;
}

// A checkpoint is signed by the log that it is of, which c2sp.org/signed-note asks for and the library does not.
const proof = /^extra (\S+)\nindex (\d+)\n((?:\S+\n)*)\n((\S+)\n\d+\n(\S+)\n\n\u2014 \5 (\S+)\n)$/;

// proofs reads a receipt: texts of c2sp.org/tlog-proof, one after the other.
function proofs(text) {
  const [before, ...all] = text.split('c2sp.org/tlog-proof@v1\n');
  if (before !== '' || all.length === 0) throw new Error('not a receipt');
  return all.map((one) => {
    const parts = proof.exec(one);
    if (!parts) throw new Error('not a proof');
    const [, extra, logIndex, hashes, envelope, , root, signature] = parts;
    [root, signature].forEach(base64);
    return {
      canonicalizedBody: base64(extra),
      inclusionProof: { logIndex, hashes: hashes.split('\n').slice(0, -1).map(base64), checkpoint: { envelope } },
    };
  });
}

const [keys, ...receipts] = process.argv.slice(2);
const logs = readFileSync(keys, 'utf8').trim().split('\n').map(authority);
for (const name of receipts) {
  try {
    const list = proofs(readFileSync(name, 'utf8'));
    list.forEach((entry) => verifyTLogInclusion(entry, logs));
    const events = list.flatMap((entry) => JSON.parse(entry.canonicalizedBody.toString().split('\n')[0]).events.map((e) => e.name));
    console.log(JSON.stringify({ proofs: list.length, events }));
  } catch (err) {
    console.log(JSON.stringify({ refused: err.message }));
  }
}
