import Foundation

/// The public interface of a library as text: a line for each symbol, in the order of their paths.
struct PublicInterface {
  /// What `swift-symbolgraph-extract` writes, as far as it is used here.
  private struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
      struct Fragment: Decodable {
        let spelling: String
      }

      let pathComponents: [String]
      let declarationFragments: [Fragment]?
    }

    let symbols: [Symbol]
  }

  let text: String

  /// Reads the symbol graphs of a module in a folder: its own, and those of its extensions of other modules.
  init(of module: String, in folder: URL) throws {
    var lines: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name == "\(module).symbols.json" || name.hasPrefix("\(module)@") {
      let graph = try JSONDecoder().decode(
        SymbolGraph.self, from: Data(contentsOf: folder.appendingPathComponent(name)))
      for symbol in graph.symbols {
        let declaration = (symbol.declarationFragments ?? []).map(\.spelling).joined()
        let words = declaration.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        lines.insert("\(symbol.pathComponents.joined(separator: ".")): \(words)")
      }
    }
    text = lines.sorted().map { $0 + "\n" }.joined()
  }
}
