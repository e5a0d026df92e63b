"""Rules about the shape of source code, looked up in syntax trees and never by running it."""
