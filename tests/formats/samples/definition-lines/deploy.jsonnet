local k = import 'k.libsonnet';
local container(name, image) = {
  name: name,
  image: image,
};
{
  replicas(count):: { spec+: { replicas: count } },
  deployment:: container('web', 'nginx'),
}
