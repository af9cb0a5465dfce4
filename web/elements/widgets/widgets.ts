import './developers.ts';
import './enterprise.ts';
import './profile.ts';
