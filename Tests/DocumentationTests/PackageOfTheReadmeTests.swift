import Foundation
import TestSupport
import Testing

/// The package that `README.md` shows. `ExampleFileTests` compares its two files with `Examples/RecordCall`, whose program is
/// built with all other targets.
@Suite("The package of the README")
struct PackageOfTheReadmeTests {
  /// What `swift package dump-package` prints, as far as it is used here.
  private struct Manifest: Decodable {
    struct Product: Decodable {
      let name: String
    }

    struct Target: Decodable {
      struct Dependency: Decodable {
        /// A product's name and its package; the other entries are empty.
        let product: [String?]?

        init(from decoder: any Decoder) throws {
          enum Key: String, CodingKey {
            case product
          }
          var entries = try? decoder.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: .product)
          product = [try? entries?.decode(String.self), try? entries?.decode(String.self)]
        }
      }

      let dependencies: [Dependency]
    }

    let products: [Product]
    let targets: [Target]

    init(of folder: URL) throws {
      // A build folder of its own, since that of the package may be in use.
      let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("manifest-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: scratch) }
      let dump = try ExternalTool.run(
        "swift", ["package", "--package-path", folder.path, "--scratch-path", scratch.path, "dump-package"], limit: 120)
      try #require(dump.status == 0, "\(dump.output)\(dump.errors)")
      self = try JSONDecoder().decode(Manifest.self, from: Data(dump.output.utf8))
    }
  }

  @Test("README.md shows both files of the package")
  func shown() throws {
    let shown = try ExampleBlock.all().filter { $0.path == "README.md" }.map(\.file)
    #expect(shown == ["Examples/RecordCall/Package.swift", "Examples/RecordCall/main.swift"])
  }

  @Test("its manifest names products that the package has")
  func products() throws {
    let ours = Set(try Manifest(of: Repository.folder).products.map(\.name))
    let manifest = try Manifest(of: Repository.folder.appendingPathComponent("Examples/RecordCall"))
    let used = manifest.targets.flatMap(\.dependencies).compactMap(\.product)
    #expect(used.isEmpty == false)
    for product in used {
      #expect(product.last == "chatbot")
      #expect(ours.contains(product.first.flatMap(\.self) ?? ""))
    }
  }

  @Test("README.md names the products of the package, and the Debian packages that they need")
  func names() throws {
    let text = try Repository.text(of: "README.md")
    for product in try Manifest(of: Repository.folder).products where product.name != "chatbot" {
      #expect(text.contains("`\(product.name)`"), "\(product.name)")
    }
    let script = try Repository.text(of: "scripts/install-debian-packages.sh")
    let line = try #require(script.split(separator: "\n").first { $0.contains(" build) wanted=") })
    let needed = line.split { " \"".contains($0) }.filter { $0.hasPrefix("lib") || $0.hasPrefix("pkg") }
    #expect(needed.count > 5)
    let block = try #require(MarkdownDocument(text).blocks.first { $0.text.hasPrefix("apt-get install") })
    let shown = block.text.split { " \\\n".contains($0) }.dropFirst(2)
    #expect(Array(shown) == needed)
  }
}
