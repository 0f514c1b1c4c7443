public import Foundation
public import NIOCore

/// A file of a test target's `Fixtures` folder.
public enum Fixture {
  /// Reads the bytes of a file.
  ///
  /// - Parameters:
  ///   - name: Its path below `Fixtures`.
  ///   - bundle: The test target's `Bundle.module`.
  public static func bytes(_ name: String, in bundle: Bundle) throws -> ByteBuffer {
    ByteBuffer(bytes: try Data(contentsOf: url(name, in: bundle)))
  }

  /// Reads the text of a file as UTF-8 without changing line ends.
  public static func text(_ name: String, in bundle: Bundle) throws -> String {
    String(decoding: try Data(contentsOf: url(name, in: bundle)), as: UTF8.self)
  }

  private static func url(_ name: String, in bundle: Bundle) -> URL {
    bundle.bundleURL.appendingPathComponent("Fixtures").appendingPathComponent(name)
  }
}
