import ArgumentParser
import Glibc
import Service

struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Make a token.",
    discussion: """
      Writes the token on standard output, once, and appends its digest to the file of tokens, which a running service reads again.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Argument(help: "The name of its owner, for logs.")
  var name: String

  @Option(help: "viewer sees, operator also submits and stops, admin also deletes recordings.")
  var role: TokenRole = .operator

  @Option(help: "The project; a token sees only the jobs of its project.")
  var project = TokenFile.defaultProject

  @Flag(help: "Write the line for the file of tokens on standard error, and leave the file alone.")
  var dryRun = false

  func run() async throws {
    guard AccessToken.isName(name), AccessToken.isName(project) else {
      throw ValidationError("A name and a project have 1 to 64 letters, digits, “-”, “_” and “.” of ASCII.")
    }
    let configuration = try options.read()
    let path = configuration.tokensPath
    let text = AccessToken.randomText()
    let token = AccessToken(name: name, role: role, project: project, digest: SHA256Digest(of: text.utf8))
    if dryRun {
      ServiceExit.report(token.line)
    } else {
      let known = TokenFile(path)
      if let problem = known.problem, access(path, F_OK) == 0 {
        // Its names are not known then, and a name that is there twice would make it of no use.
        ServiceExit.report(problem)
        throw ServiceExit.failure
      }
      if known.contains(name: name) {
        ServiceExit.report("\(path) has a token with the name “\(name)”.")
        throw ServiceExit.failure
      }
      do throws(PrivateFile.WriteError) {
        try PrivateFile.append(path, line: token.line)
      } catch {
        ServiceExit.report(error.description)
        throw ServiceExit.failure
      }
    }
    print(text)
  }
}

extension TokenRole: ExpressibleByArgument {}
