package import Logging
package import Signalling
package import SignallingAdapters

/// Any other system, connected by a program: `exec:python3 adapter.py`.
package struct ExecAdapter: SignallingAdapter {
  package let name = "Child process"
  package let shortName = "exec"
  package let schemes = ["exec"]
  package let summary = "A program in any language that connects a system of one's own, by lines of JSON."
  package let example = "chatbot --server 'exec:python3 adapter.py tcp://calls.example:9000' --room 100 --record out/"
  package let uses = Set(SignallingUse.allCases)
  package let options: Set<SignallingOption> = [.room, .user, .name, .callees, .token]

  package init() {}

  package var addressIsURL: Bool { false }

  /// The program says more when it runs.
  package func capabilities(at address: SignallingAddress) -> SignallingCapabilities { ExecCapabilities.defaults }

  /// The host of the first argument that is a URL: probably the server that the program connects to.
  package func host(of address: SignallingAddress, environment: [String: String]) -> String? {
    guard let command = try? ExecCommand(address.opaque) else { return nil }
    return command.words.dropFirst().lazy.filter { $0.contains("://") }.compactMap { SignallingAddress($0).host }.first
  }

  /// The file name of the program, as `exec:python3`. Its arguments may be secret.
  package func shownAddress(_ address: SignallingAddress) -> String {
    guard let command = try? ExecCommand(address.opaque) else { return shortName }
    return "\(shortName):\(command)"
  }

  package func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe? {
    throw SignallingSettingsError(
      "The server that a program connects to cannot be measured; an address such as wss://calls.example can.")
  }

  package func makeClient(
    _ settings: SignallingSettings, logger: Logger
  ) throws(SignallingSettingsError) -> any SignallingClient {
    let command: ExecCommand
    do throws(ExecCommand.ParseError) {
      command = try ExecCommand(settings.address.opaque)
    } catch {
      throw SignallingSettingsError(error.description)
    }
    var options = ExecClient.Options()
    options.room = settings.room
    options.user = (settings.user ?? settings.name).map { $0 + settings.suffix }
    options.callees = settings.callees
    options.token = settings.token
    options.sends = settings.sends
    options.receives = settings.receives
    options.maximumParticipants = settings.maximumUsers
    return ExecClient(command: command, options: options, logger: logger)
  }
}
