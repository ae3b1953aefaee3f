/* Links of the specification, such as /#/Users/, lead to their group of the documentation. */

const toGroup = () => location.hash.startsWith('#/') && location.replace(`/docs/${location.hash}`);
addEventListener('hashchange', toGroup);
toGroup();
