import { z } from 'zod';

const BASE64URL = /^[\w-]+$/;

/** Bytes made by a device, in base64url. */
export const bytes = z.string().min(1).max(8192).regex(BASE64URL);
const credentialId = z.string().min(1).max(1400).regex(BASE64URL);
export const credentialFields = { id: credentialId, rawId: credentialId, type: z.literal('public-key') };
export const state = z.string().min(1).max(1024).meta({ description: 'The `state` that came with the challenge.' });

/** Response of a passkey. Further fields that browsers send are accepted but ignored. */
export const SignedPasskeyIn = z
  .strictObject({
    state,
    credential: z
      .looseObject({
        ...credentialFields,
        response: z.looseObject({
          clientDataJSON: bytes,
          authenticatorData: bytes,
          signature: bytes,
          userHandle: bytes.nullish(),
        }),
      })
      .meta({ id: 'SignedPasskeyCredential', description: 'Output of `PublicKeyCredential.toJSON()`.' }),
  })
  .meta({
    id: 'SignedPasskey',
    examples: [
      {
        state: 'eyJhbGciOiJFZERTQSIsInR5cCI6InN0YXRlK2p3dCJ9.eyJzdGF0ZSI6e319.c2lnbmF0dXJl',
        credential: {
          ...{ id: 'AQIDBAUGBwg', rawId: 'AQIDBAUGBwg', type: 'public-key' as const },
          response: {
            clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
            authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
            signature: 'MEUCIQDzuoMdl2M',
            userHandle: 'AZYfPJwyflqdP0uMLmoPeQ',
          },
        },
      },
    ],
  });
