import { useFastFolder } from '@outrider/testing/folder';

/** Runs once, before the workers start and inherit `TMPDIR`. */
export default useFastFolder;
