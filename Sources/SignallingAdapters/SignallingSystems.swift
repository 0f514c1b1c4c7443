/// The signalling systems of a program. The scheme of a server's address selects one.
package struct SignallingSystems: Sendable {
  package let all: [any SignallingAdapter]

  /// - Parameter adapters: One for each system, in the order of lists.
  package init(_ adapters: [any SignallingAdapter]) { all = adapters }

  /// The system of an address, or nil if none has it.
  package func adapter(of text: String) -> (any SignallingAdapter)? {
    let address = address(of: text).address
    return all.first { $0.accepts(address) }
  }

  /// The address that a text means, and the room that it names: the address of a call page is that of its server.
  package func address(of text: String) -> (address: SignallingAddress, room: String?) {
    let address = SignallingAddress(text)
    if all.contains(where: { !$0.addressIsURL && $0.accepts(address) }) { return (address, nil) }
    return all.lazy.compactMap { $0.server(ofPage: text) }.first ?? (address, nil)
  }

  /// The systems that understand a setting, for help and errors: `WHIP, WHEP and Janus`.
  package func names(with option: SignallingOption, conjunction: String = "and") -> String {
    Self.list(all.filter { $0.options.contains(option) }.map(\.shortName), conjunction: conjunction)
  }

  /// Says that a system does not use an option, and which systems do.
  ///
  /// - Parameters:
  ///   - option: The name of the option.
  ///   - meanings: The settings that the option may be.
  /// - Returns: A sentence; nil if the system understands one of the settings.
  package func refusal(
    of option: String, meaning meanings: Set<SignallingOption>, by system: any SignallingAdapter
  ) -> String? {
    guard system.options.isDisjoint(with: meanings) else { return nil }
    let names = all.filter { !$0.options.isDisjoint(with: meanings) }.map(\.shortName)
    return "\(system.shortName) does not use \(option); \(Self.list(names)) \(names.count == 1 ? "does" : "do")."
  }

  /// Names in a sentence: `WHIP, WHEP and Janus`.
  private static func list(_ names: [String], conjunction: String = "and") -> String {
    names.count < 2
      ? names.joined() : "\(names.dropLast().joined(separator: ", ")) \(conjunction) \(names[names.count - 1])"
  }

  /// The list for people: names, addresses, uses and an example of each system.
  package var list: String {
    all.map { system in
      let address = system.addressPrefixes.joined(separator: ", ")
      let uses = SignallingUse.allCases.filter(system.uses.contains).map(\.rawValue).joined(separator: ", ")
      return "\(system.name): \(address)\n  \(system.summary)\n  Uses: \(uses).\n  \(system.example)"
    }.joined(separator: "\n\n")
  }
}
