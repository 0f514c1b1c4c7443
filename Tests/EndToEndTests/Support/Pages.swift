import Foundation

/// The scripts and pages in the `Pages` folder.
enum Pages {
  /// Returns the source of a script.
  static func script(_ name: String) throws -> String {
    try String(contentsOf: url("\(name).js"), encoding: .utf8)
  }

  static func url(_ name: String) -> URL {
    Bundle.module.bundleURL.appendingPathComponent("Pages").appendingPathComponent(name)
  }
}
