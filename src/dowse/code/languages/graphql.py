"""GraphQL."""

from dowse.code.languages.base import Language

LANGUAGE = Language(
    name="graphql",
    extensions=(".graphql", ".gql", ".graphqls"),
)
