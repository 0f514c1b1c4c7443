public import Foundation
public import NIOCore

/// A recorded file of a test target's `Fixtures` folder.
public enum Fixture {
  /// The file's bytes.
  ///
  /// - Parameters:
  ///   - name: its path below `Fixtures`.
  ///   - bundle: the test target's `Bundle.module`.
  public static func bytes(_ name: String, in bundle: Bundle) throws -> ByteBuffer {
    ByteBuffer(bytes: try Data(contentsOf: url(name, in: bundle)))
  }

  /// The file's text, taken as UTF-8 without changing a line end.
  public static func text(_ name: String, in bundle: Bundle) throws -> String {
    String(decoding: try Data(contentsOf: url(name, in: bundle)), as: UTF8.self)
  }

  private static func url(_ name: String, in bundle: Bundle) -> URL {
    bundle.bundleURL.appendingPathComponent("Fixtures").appendingPathComponent(name)
  }
}
