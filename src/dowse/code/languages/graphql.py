"""GraphQL."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="graphql",
    extensions=(".graphql", ".gql", ".graphqls"),
)
