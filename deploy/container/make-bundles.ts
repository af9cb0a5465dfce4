import { bundledProgram, serviceModule } from '../../src/programs/bundled-programs.ts';

// Both sets are made whole when one of their programs is asked for.
await bundledProgram('rendering');
const made = await serviceModule('main', '');
if (made === '') throw new Error('the programs of the service could not be bundled: see above');
